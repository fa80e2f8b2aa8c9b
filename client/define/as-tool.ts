// An agent as a tool of another agent: each call is a turn in a conversation made of the call.

import { agentSchema } from '../../shared/agents/file/schema-mistakes.ts'
import type { Caps } from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { needOptions } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import type { DefinedAgent } from './define-agent.ts'
import type { DefinedTool } from './define-tool.ts'
import type { JsonSchema, StandardSchema } from './standard-schema.ts'

export type AgentToolOptions<Args> = {
  /** For the calling model. */
  name: string
  /** For the calling model. */
  description: string
  /** Caps of each call, beside those of the agent. Default: 10 minutes of wall time. */
  caps?: { rounds?: number; calls?: number; wallMs?: number; tokens?: number }
  /** The schema of the arguments. Default: an object with `task`, a text. */
  parameters?: StandardSchema<Args> | JsonSchema
  /** The message for the agent. Default: the task, or the arguments as JSON. */
  text?: (args: Args) => string
}

/** The turn that a call of the tool runs. */
export type AgentTurn = {
  agent: DefinedAgent<never>
  caps: Partial<Caps>
  text: (args: unknown) => string
}

const invalid = { code: 'agent.invalid' } as const

const optionNames = Object.keys({
  name: 1,
  description: 1,
  caps: 1,
  parameters: 1,
  text: 1,
} satisfies Record<keyof AgentToolOptions<never>, 1>)

const agentSymbol: unique symbol = Symbol('agent')
const wallMsDefault = 600_000
/** The turn ends by its own wall time first, and the caller gets its reason. */
const marginMs = 10_000
const timeoutMsMax = 3_600_000

const task: JsonSchema = {
  type: 'object',
  properties: {
    task: {
      type: 'string',
      description: 'The task, with everything that the agent needs to know.',
    },
  },
  required: ['task'],
  additionalProperties: false,
}

/**
 * A tool that asks `agent`. It is idempotent: a second start for the same call asks the same
 * question. A cancel of the calling turn cancels the agent's turn too. Throws `agent.invalid` for
 * options that do not exist.
 */
export function asTool<Context = unknown, Args = { task: string }>(
  agent: DefinedAgent<Context>,
  options: AgentToolOptions<Args>,
): DefinedTool<Context> {
  const asked = { ...invalid, subject: 'asTool' }
  needOptions(options, { ...asked, example: "{ name: 'search', description: 'Finds pages.' }" })
  refuseUnknownKeys(options, optionNames, asked)
  const { name, description, caps = {}, parameters = task } = options
  checkCaps(caps)
  const { text = defaultText as (args: Args) => string } = options
  const wallMs = caps.wallMs ?? wallMsDefault
  const turn = { agent, caps: { ...caps, wallMs }, text }
  const timeoutMs = Math.min(wallMs + marginMs, timeoutMsMax)
  const tool = { name, description, parameters, timeoutMs, idempotent: true, run: () => undefined }
  return { ...tool, [agentSymbol]: turn } as DefinedTool<Context>
}

/** By the bounds of agent files. */
function checkCaps(caps: object): void {
  const known: Record<string, { minimum?: number; maximum?: number }> =
    agentSchema.properties?.caps?.properties ?? {}
  refuseUnknownKeys(caps, Object.keys(known), { ...invalid, subject: 'caps of asTool' })
  for (const [name, value] of Object.entries(caps)) {
    const { minimum = 1, maximum = Number.MAX_SAFE_INTEGER } = known[name] ?? {}
    const isFit = Number.isSafeInteger(value) && value >= minimum && value <= maximum
    if (value === undefined || isFit) continue
    throw new WeirError(
      invalid.code,
      `caps.${name} of asTool is ${shown(value)}; must be a whole number from ${minimum} to ${maximum}`,
    )
  }
}

export function agentTurnOf(tool: object): AgentTurn | undefined {
  return (tool as { [agentSymbol]?: AgentTurn })[agentSymbol]
}

function defaultText(args: unknown): string {
  const { task: text } = args as { task?: unknown }
  return typeof text === 'string' ? text : JSON.stringify(args)
}
