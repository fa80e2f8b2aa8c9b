// An operator's stop or budget while the fleet runs, and its end. A fault counts as a hit if turns were
// answered again.

import { setTimeout as sleep } from 'node:timers/promises'
import { type GuardWorld, leftOut } from './guard-faults.ts'
import type { BudgetFault, StopFault } from './plan.ts'

type OperatorWorld = Pick<GuardWorld, 'operator' | 'signal' | 'answered' | 'broken' | 'overAt'>

/** The arguments of two commands, and the time between them. */
type Change = { begin: string[]; end: string[]; forMs: number }

type Seen = { hit: boolean; detail: string }

const answeredMs = 60_000
const lookMs = 200

/** The stop, for its time, and its release. */
export function stopAndRelease(
  { scope, name, mode, forMs }: StopFault,
  world: OperatorWorld,
): Promise<Seen> {
  const begin = ['stop', `--${scope}`, name, `--${mode}`, '--reason', 'chaos']
  return forATime({ begin, end: ['release', `${scope}:${name}`], forMs }, world)
}

/** A budget of all agents and guests that nobody can use up. So every request of a run is reserved. */
export const ampleBudget = budgetOf(1_000_000_000)

/** A budget in its place that parallel requests use up, for its time. */
export function budgetAndAmple(
  { tokens, forMs }: BudgetFault,
  world: OperatorWorld,
): Promise<Seen> {
  return forATime({ begin: budgetOf(tokens), end: ampleBudget, forMs }, world)
}

function budgetOf(tokens: number): string[] {
  return ['budget', 'set', '--window', 'day', '--tokens', `${tokens}`]
}

async function forATime(
  { begin, end, forMs }: Change,
  { operator, signal, answered, broken, overAt }: OperatorWorld,
): Promise<Seen> {
  await broken.until
  if (Date.now() >= overAt) return leftOut
  const hasBegun = await operator.command(begin, signal)
  await sleep(forMs)
  const hasEnded = await operator.command(end, signal)
  const before = answered()
  for (
    const deadline = Date.now() + answeredMs;
    answered() === before && Date.now() < deadline && !signal.aborted;
  )
    await sleep(lookMs)
  return {
    hit: hasBegun && hasEnded && answered() > before,
    detail: `${begin.join(' ')}, ${hasEnded ? 'ended' : 'never ended'}, ${answered() - before} turns right after it`,
  }
}
