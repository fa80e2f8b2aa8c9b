// The agent that summarises the history of another one is among the agents that are opened together.

import { shown } from '../settings/mistake.ts'
import { nearestName } from '../settings/nearest-name.ts'
import type { Agent } from './agents.ts'

/** The mistake at `history.summarise`. Undefined: there is none. `names`: of all agents. */
export function summariserMistake(
  { history }: Pick<Agent, 'history'>,
  names: readonly string[],
): string | undefined {
  const name = history?.summarise ?? 'drop'
  if (name === 'drop' || names.includes(name)) return undefined
  const near = nearestName(name, ['drop', ...names])
  const advice = near === undefined ? `must be drop or one of the agents` : `did you mean ${near}?`
  return `is ${shown(name)}, and no agent has that name; ${advice}`
}
