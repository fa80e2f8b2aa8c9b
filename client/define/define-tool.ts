// A tool in a program: its declaration for the model and the function, file, program, URL, client or
// agent that runs its calls. Only types and data: Weir.open checks them.

import util from 'node:util'
import type { SandboxSetting } from '../../shared/agents/sandbox.ts'
import { needOptions } from '../given-options.ts'
import { type AgentTool, agentTool } from './agent-tool.ts'
import type { CallOf } from './call-types.ts'
import { checkBy, isStandardSchema, type StandardSchema } from './standard-schema.ts'
import type { DefinedTool, ParametersOf, ToolFields } from './tool-fields.ts'

/** The call that a function tool runs. */
export type ToolCall<Context = undefined> = {
  /** Aborts at the timeout and when the turn is cancelled. Pass it on, and end when it aborts. */
  signal: AbortSignal
  /** The same for all tries of one call, and for no other call. */
  idempotencyKey: string
  /** The context of the question. Undefined after a restart, and if there was none. */
  context: Context
}

type InProcess<Args, Context, Name extends string, Sent, Returned> = ToolFields<Name> &
  ParametersOf<Args, Sent> &
  Isolation & {
    /** Its text or its value's JSON is the result. An exception is the error. */
    run: (args: Args, call: ToolCall<Context>) => Returned
  }

type Isolation = {
  /**
   * Runs it in a process that loads the file of this `defineTool`, which must export the tool and
   * open no Weir. Weir can kill such a tool, and give it a sandbox. Default: in this process.
   */
  isolated?: boolean
} & Surroundings

type Surroundings = {
  /** The sandbox of its process. Default: that of the agent. */
  sandbox?: SandboxSetting
  /** The folder in which its process runs. */
  cwd?: string
  /** The variables that its process sees next to PATH. */
  environment?: readonly string[]
}

type ProgramTool<Name extends string, Sent> = ToolFields<Name> &
  ParametersOf<unknown, Sent> &
  (
    | ({
        /** A file that exports the function. It runs in its own process. */
        module: string | URL
        /** The name of the function among its exports. Default: the default export. */
        export?: string
      } & Surroundings)
    | ({
        /** A program and its arguments. It reads the arguments as JSON on standard input. */
        command: readonly [string, ...string[]]
      } & Surroundings)
    | {
        /**
         * The client of the conversation runs it: each call that may run is a `call-offered` event,
         * and `conversation.sendResult` answers it within `timeoutMs`.
         */
        client: true
      }
    | { http: { url: string | URL; headers?: Record<string, string>; outputBytesMax?: number } }
  )

/**
 * A tool. The model gets `parameters` as a JSON Schema, and each call is judged by it. Then the
 * schema's own refinements are checked. With `needsContext`, a call without its context never
 * starts: `true`, or a schema that also checks the context.
 */
export function defineTool<
  Args = Record<string, unknown>,
  Context = unknown,
  const Name extends string = string,
  Sent = Args,
  Returned = unknown,
>(
  tool: InProcess<Args, Context, Name, Sent, Returned> & {
    needsContext: true | StandardSchema<Context>
  },
): DefinedTool<Context, CallOf<Name, Sent, Returned>>
export function defineTool<
  Args = Record<string, unknown>,
  Context = unknown,
  const Name extends string = string,
  Sent = Args,
  Returned = unknown,
>(
  tool: InProcess<Args, Context | undefined, Name, Sent, Returned> & { needsContext?: false },
): DefinedTool<Context | undefined, CallOf<Name, Sent, Returned>>
export function defineTool<
  Args = { task: string },
  Context = unknown,
  const Name extends string = string,
  Sent = Args,
>(tool: AgentTool<Args, Context, Name, Sent>): DefinedTool<Context, CallOf<Name, Sent, string>>
export function defineTool<const Name extends string = string, Sent = Record<string, unknown>>(
  tool: ProgramTool<Name, Sent>,
): DefinedTool<unknown, CallOf<Name, Sent, unknown>>
export function defineTool(tool: object): DefinedTool {
  const example = "{ name: 'search', description: 'Finds pages.' }"
  needOptions(tool, { code: 'agent.invalid', subject: 'defineTool', example })
  if ('agent' in tool) return agentTool(tool as AgentTool<never, unknown>)
  const { name, isolated } = tool as { name: string; isolated?: unknown }
  const defined = {
    name,
    run: isolatedRun(tool),
    file: isolated === true ? callerFile() : undefined,
  }
  return { ...tool, name, [toolSymbol]: defined } as DefinedTool
}

/** shared/tools/module/module-child.ts finds an isolated tool by it. */
export const toolSymbol: unique symbol = Symbol.for('weir-agents.tool')

/** `file`: the one that exports an isolated tool. */
export type Defined = { file: string | undefined }

export function definedOf(tool: object): Defined | undefined {
  return (tool as { [toolSymbol]?: Defined })[toolSymbol]
}

/** The function in the process of an isolated tool: it reads the arguments as its schema does. */
function isolatedRun(tool: object) {
  const { parameters, run } = tool as { parameters?: unknown; run?: unknown }
  return async (args: unknown, call: ToolCall<unknown>): Promise<unknown> => {
    if (typeof run !== 'function') throw new TypeError('the tool has no function run')
    const checked = isStandardSchema(parameters) ? await checkBy(parameters)(args) : { value: args }
    if ('problems' in checked) throw new TypeError(checked.problems.join('; '))
    return run(checked.value, call)
  }
}

/** The file that calls defineTool. */
function callerFile(): string | undefined {
  const [own, ...others] = util.getCallSites(20).map(({ scriptName }) => scriptName)
  return others.find((script) => script !== own)
}
