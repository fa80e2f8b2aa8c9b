// An agent as a tool of another agent: each call is a turn in a conversation made of the call.

import { agentTimeoutMs, agentWallMs, taskOf, taskSchema } from '../../shared/agents/agent-tool.ts'
import { agentSchema } from '../../shared/agents/file/agent-schema.ts'
import type { Caps } from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { needOptions } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import type { DefinedAgent } from './define-agent.ts'
import type { DefinedTool, ParametersOf, ToolFields } from './tool-fields.ts'

/** Each call is a turn of the agent, as long as its caps allow, so a second start asks the same. */
export type AgentTool<Args, Context, Name extends string = string, Sent = unknown> = Omit<
  ToolFields<Name>,
  Fixed
> &
  Partial<ParametersOf<Args, Sent>> & {
    /** The agent that a call asks. `parameters` are an object with `task`, a text, by default. */
    agent: DefinedAgent<Context>
    /** Caps of each call, in addition to those of the agent. Default: 10 minutes of wall time. */
    caps?: { rounds?: number; calls?: number; wallMs?: number; tokens?: number }
    /** The message for the agent. Default: the task, or the arguments as JSON. */
    text?: (args: Args) => string
  }

/** The turn that a call of the tool runs. */
export type AgentTurn = {
  agent: { readonly name: string }
  caps: Partial<Caps>
  text: (args: unknown) => string
}

const invalid = { code: 'agent.invalid' } as const

/** The fields that follow from the agent and its caps. */
const fixed = ['idempotent', 'timeoutMs'] as const
type Fixed = (typeof fixed)[number]

const agentSymbol: unique symbol = Symbol('agent')

/** Throws `agent.invalid` for caps out of bounds, and for fields that follow from the agent. */
export function agentTool<Context>(tool: AgentTool<never, Context>): DefinedTool<Context> {
  const { agent, caps = {}, text = taskOf, ...fields } = tool
  const own = [...fixed, 'run', 'isolated'].find((key) => key in fields)
  if (own !== undefined)
    throw new WeirError(invalid.code, `defineTool has agent, so leave ${own} out`)
  needOptions(caps, { ...invalid, subject: 'caps of defineTool', example: '{ rounds: 5 }' })
  checkCaps(caps)
  const wallMs = caps.wallMs ?? agentWallMs
  const turn = { agent, caps: { ...caps, wallMs }, text }
  const timeoutMs = agentTimeoutMs(wallMs)
  const run = () => undefined
  const written = { parameters: taskSchema, ...fields, timeoutMs, idempotent: true, run }
  return { ...written, [agentSymbol]: turn } as DefinedTool<Context>
}

/** By the bounds of agent files. */
function checkCaps(caps: object): void {
  const known: Record<string, { minimum?: number; maximum?: number }> =
    agentSchema.properties?.caps?.properties ?? {}
  refuseUnknownKeys(caps, Object.keys(known), { ...invalid, subject: 'caps of defineTool' })
  for (const [name, value] of Object.entries(caps)) {
    const { minimum = 1, maximum = Number.MAX_SAFE_INTEGER } = known[name] ?? {}
    const isFit = Number.isSafeInteger(value) && value >= minimum && value <= maximum
    if (value === undefined || isFit) continue
    throw new WeirError(
      invalid.code,
      `caps.${name} of defineTool is ${shown(value)}; must be a whole number from ${minimum} to ${maximum}`,
    )
  }
}

export function agentTurnOf(tool: object): AgentTurn | undefined {
  return (tool as { [agentSymbol]?: AgentTurn })[agentSymbol]
}
