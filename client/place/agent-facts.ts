// The definition of agents in a form that two processes can compare: hashes, because commands, URLs
// and instructions must not leave their process.

import { hash } from 'node:crypto'
import type { Agent, Agents, Model, Tool } from '../../shared/agents/agents.ts'
import { declarationHash } from '../../shared/agents/agents.ts'
import { WeirError } from '../../shared/lib/errors.ts'

/** `tools`: by name. A function counts by its declaration: no process sees the code of another. */
export type AgentFacts = {
  instructions: string
  model: string
  tools: Record<string, { declaration: string; run: string }>
}

/** By agent. */
export type AgentsFacts = Record<string, AgentFacts>

export function factsOf(agents: Agents): AgentsFacts {
  return Object.fromEntries([...agents].map(([name, agent]) => [name, factsOfAgent(agent)]))
}

function factsOfAgent({ system, model, tools }: Agent): AgentFacts {
  return {
    instructions: hashOf(system),
    model: hashOf(modelParts(model)),
    tools: Object.fromEntries(
      tools.map((tool) => [
        tool.declaration.name,
        { declaration: declarationHash(tool.declaration), run: hashOf(runParts(tool)) },
      ]),
    ),
  }
}

/** Without its key: two processes may have two keys of one account. */
function modelParts(model: Model): unknown[] {
  const { provider, name, baseUrl, maxOutputTokens, temperature, topP, reasoningEffort } = model
  const { serviceTier, seed, toolCalls, endMark } = model
  return [
    ...[provider, name, baseUrl, maxOutputTokens, temperature, topP],
    ...[reasoningEffort, serviceTier, seed, toolCalls],
    ...(endMark === undefined ? [] : [endMark]),
  ]
}

function runParts({ run }: Tool): unknown[] {
  switch (run.kind) {
    case 'command':
      return [run.kind, run.argv]
    case 'http':
      return [run.kind, run.url]
    case 'module':
      return [run.kind, run.file, run.entry?.kind, run.entry?.name]
    case 'function':
      return [run.kind, run.runsAgent]
    case 'mcp':
      return [run.kind, run.server.name, run.tool]
    case 'client':
      return [run.kind]
    default:
      return run satisfies never
  }
}

function hashOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value)).slice(0, 16)
}

/**
 * The first difference between an agent here and in the owner, for an error. `declarationsOnly`:
 * this process has read no more of its agents.
 */
export function differenceOf(
  here: AgentFacts,
  there: AgentFacts,
  { declarationsOnly }: { declarationsOnly: boolean },
): string | undefined {
  const names = new Set([...Object.keys(here.tools), ...Object.keys(there.tools)])
  for (const name of names) {
    const [own, other] = [here.tools[name], there.tools[name]]
    if (own === undefined) return `the tool '${name}', which this process does not have`
    if (other === undefined) return `no tool '${name}'`
    if (own.declaration !== other.declaration || (!declarationsOnly && own.run !== other.run))
      return `another tool '${name}'`
  }
  if (declarationsOnly) return undefined
  if (here.instructions !== there.instructions) return 'other instructions'
  return here.model === there.model ? undefined : 'another model'
}

/** The process that runs the agents of a data folder. */
export type OwnerFacts = { pid: number; agents: AgentsFacts }

/** Throws `agent.unknown` and `agent.differs`. */
export function assertOwnerHas(
  agent: Agent,
  owner: OwnerFacts,
  place: { dataFolder: string; declarationsOnly: boolean },
): void {
  const there = Object.hasOwn(owner.agents, agent.name) ? owner.agents[agent.name] : undefined
  const who = `process ${owner.pid}, which runs the agents of ${place.dataFolder},`
  if (there === undefined)
    throw new WeirError(
      'agent.unknown',
      `${who} has no agent '${agent.name}'. Its agents: ${Object.keys(owner.agents).join(', ') || 'none'}. Wait until it ends, start it with this agent, or use another data folder`,
    )
  const difference = differenceOf(factsOfAgent(agent), there, place)
  if (difference === undefined) return
  throw new WeirError(
    'agent.differs',
    `${who} has ${difference} in its agent '${agent.name}'. Run the same definition in both processes, or use another data folder`,
  )
}

/** Whether these agents include all of the owner's, as it defines them. */
export function includesAll(agents: Agents, owner: AgentsFacts): boolean {
  const own = factsOf(agents)
  return Object.entries(owner).every(([name, there]) => {
    const here = own[name]
    return (
      here !== undefined && differenceOf(here, there, { declarationsOnly: false }) === undefined
    )
  })
}
