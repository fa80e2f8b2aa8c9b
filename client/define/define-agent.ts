// An agent in a program, as data. Weir.open checks it like an agent file.
// Here: definitions as data, and their types. Not here: checks (shared/agents) and runs of tools
// (shared/tools).

import type { TreeFields } from '../../shared/agents/file/content.ts'
import type { SandboxSetting } from '../../shared/agents/sandbox.ts'
import type { AgentSettings, TextCallsMode } from '../../shared/contract/messages.ts'
import { needOptions } from '../given-options.ts'
import type { CallTypes, McpCallOf } from './call-types.ts'
import type { DefinedModel } from './models.ts'
import type { DefinedTool, FlowSource } from './tool-fields.ts'

declare const contextOf: unique symbol
declare const callOf: unique symbol

/**
 * An agent for `Weir.open`. `Context`: the context that its tools take from a question. `Call`: the
 * types of its calls in events.
 */
export type DefinedAgent<Context = unknown, Call extends CallTypes = CallTypes> = {
  readonly name: string
  readonly [callOf]?: Call
  readonly [contextOf]?: (context: Context) => void
}

type Policy = AgentSettings['policy']

type AgentFields<Tools, Server extends string> = {
  /** The name under which you ask it: 1 to 64 of a-z, 0-9 and -. */
  name: string
  /** The model: anthropic(...), openai(...), openaiChat(...) or gemini(...). */
  model: DefinedModel
  /** The instructions: the system prompt. */
  system: string
  /** The tools that the model may call. Default: none. */
  tools?: Tools
  /** The user's text when a turn ends without an answer. */
  fallback?: string
  /** Hard limits of a turn. */
  caps?: { rounds?: number; calls?: number; wallMs?: number; tokens?: number }
  /** Caps of a turn and all turns that its calls lead to. Those of the first agent count. */
  tree?: TreeFields
  /** The thresholds at which calls without progress count as a loop. */
  loop?: Partial<Policy['loop']> & { rules?: Record<string, 'enforce' | 'shadow'> }
  /** How many empty responses get a nudge. */
  empty?: Partial<Policy['empty']>
  /** Attempts to get one response from the model. Default: 3. */
  attempts?: number
  /** Milliseconds without a byte from the provider after which an attempt fails. */
  stallMs?: number
  /** Milliseconds to the first byte of a response. */
  firstByteMs?: number
  /** Milliseconds within which a claimed call may start. */
  startWithinMs?: number
  /** Milliseconds between asking a tool to stop and ending it. */
  graceMs?: number
  /** Starts of an idempotent tool for one call whose outcome is unknown. */
  toolTries?: number
  /** The use of calls that the model writes as text. */
  textCalls?: TextCallsMode
  /** Servers of the Model Context Protocol. Their tools are named SERVER__TOOL. */
  mcp?: Record<Server, DefinedMcpServer>
  /** Names of servers whose hints on their tools are believed. */
  trust?: string[]
  /**
   * The part of a conversation that stays when the model's context is full: the newest `rounds` or
   * `tokens`. `summarise`: the agent that writes a summary of the rest, or its name. Default:
   * `drop`. Without `history` the turn ends with the class `context_full`.
   */
  history?: {
    keep: { rounds: number } | { tokens: number }
    summarise?: DefinedAgent<never> | 'drop' | (string & {})
  }
  /**
   * Values that readers of the log do not see: classes, paths into arguments and results, and
   * patterns of RE2 with the name that stands in. Models and tools get them. Default: none.
   */
  redact?: (RedactedClass | RedactedPath | { name: string; pattern: string })[]
  /** The sandbox of the tools in other processes that set none themselves. */
  sandbox?: SandboxSetting
  /** Refuses tools that run in this process, which no sandbox holds. Default: false. */
  requireIsolation?: boolean
}

/** A class of values: keys of services, e-mail addresses, payment cards, bank accounts, telephone numbers. */
export type RedactedClass = 'key' | 'email' | 'card' | 'iban' | 'phone'

/** `*`: each item of a list. */
export type RedactedPath = `arguments.${string}` | `results.${string}`

/** The intersection of the contexts of all tools. */
type ContextsOf<Tools extends readonly DefinedTool<never>[]> = [
  {
    [N in keyof Tools]: Tools[N] extends DefinedTool<infer C> ? (context: C) => void : never
  }[number],
] extends [(context: infer All) => void]
  ? All
  : unknown

/** The calls of all tools. */
type CallsOf<Tools extends readonly DefinedTool<never>[]> =
  Tools[number] extends DefinedTool<never, infer Call> ? Call : never

export function defineAgent<
  const Tools extends readonly DefinedTool<never>[] = readonly [],
  Server extends string = never,
>(
  agent: AgentFields<Tools, Server>,
): DefinedAgent<ContextsOf<Tools>, CallsOf<Tools> | McpCallOf<Server>> {
  const example = "{ name: 'helper', model, system: 'You help.' }"
  needOptions(agent, { code: 'agent.invalid', subject: 'defineAgent', example })
  return { ...agent }
}

/** A program that speaks MCP, or the URL of a server over streamable HTTP. */
export type DefinedMcpServer = (
  | { command: string[]; cwd?: string; env?: string[]; sandbox?: SandboxSetting }
  | {
      url: string
      headers?: Record<string, string>
      auth?:
        | { clientId: string; clientSecret: string; issuer?: string; scope?: string }
        | { tokenFile: string }
    }
) & {
  /** Patterns of the server's own tool names. Default: all. */
  allow?: string[]
  deny?: string[]
  /** The flow of data through its tools, by patterns of their own names, for the guard `flow`. */
  labels?: Record<string, { reads?: FlowSource | FlowSource[]; sends?: 'out' }>
  /**
   * A file with its tools, which `weir mcp tools` writes. Processes that cannot reach the server offer
   * them, and this process offers no others.
   */
  toolsFile?: string
  /** Sends W3C Trace Context in `_meta` of each call. Default: false. */
  traceparent?: boolean
  /** Milliseconds that the server may take to start and to connect. Default: 60,000. */
  startMs?: number
  /** Milliseconds that a call may run without progress. Default: 60,000. */
  timeoutMs?: number
  /** Milliseconds that a call may run in all. Default: 300,000. */
  wallMs?: number
  outputBytesMax?: number
}
