// An agent as a tool of another agent: the parts that programs and agent files share.

import { shown } from '../settings/mistake.ts'
import { nearestName } from '../settings/nearest-name.ts'
import type { Agent, FunctionTool } from './agents.ts'

export const agentWallMs = 600_000
/** The turn ends by its own wall time first, and the caller gets its reason. */
const marginMs = 10_000
const timeoutMsMax = 3_600_000

export function agentTimeoutMs(wallMs: number): number {
  return Math.min(wallMs + marginMs, timeoutMsMax)
}

export const taskSchema = {
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

export function taskOf(args: unknown): string {
  const { task } = args as { task?: unknown }
  return typeof task === 'string' ? task : JSON.stringify(args)
}

/** The tool of an agent file, until a process can ask agents. */
export function unboundAgentTool(runsAgent: string): FunctionTool {
  return { kind: 'function', run: askNobody, runsAgent }
}

export function isUnbound({ run }: FunctionTool): boolean {
  return run === askNobody
}

function askNobody(): never {
  throw new Error('this process cannot ask agents')
}

/**
 * The mistake of a tool that is an agent, by its index. `agents`: all that are opened together. An agent that asks
 * itself, also through others, would never end by itself.
 */
export function agentToolMistakes(
  { name: own, tools }: Agent<string>,
  agents: ReadonlyMap<string, Agent<string>>,
): Map<number, string> {
  const mistakes = new Map<number, string>()
  for (const [index, asked] of tools.map(agentOfTool).entries()) {
    if (asked === undefined) continue
    const near = nearestName(asked, [...agents.keys()])
    if (!agents.has(asked))
      mistakes.set(
        index,
        `is ${shown(asked)}, and no agent has that name; ${near === undefined ? 'must be an agent of these files' : `did you mean ${near}?`}`,
      )
    else if (agentsBelow(asked, agents).has(own))
      mistakes.set(index, `is ${shown(asked)}, which asks ${own} again; must lead to other agents`)
  }
  return mistakes
}

/** The agent and all that it asks. */
function agentsBelow(name: string, agents: ReadonlyMap<string, Agent<string>>): Set<string> {
  const below = new Set([name])
  for (const one of below)
    for (const asked of agents.get(one)?.tools.map(agentOfTool) ?? [])
      if (asked !== undefined) below.add(asked)
  return below
}

function agentOfTool({ run }: Agent<string>['tools'][number]): string | undefined {
  return run.kind === 'function' ? run.runsAgent : undefined
}
