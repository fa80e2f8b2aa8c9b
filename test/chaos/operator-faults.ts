// An operator's stop or budget while the fleet runs, and its end. A fault counts as a hit if turns were
// answered again.

import { setTimeout as sleep } from 'node:timers/promises'
import { type GuardWorld, leftOut } from './guard-faults.ts'
import type { BudgetFault, StopFault } from './plan.ts'

type OperatorWorld = Pick<
  GuardWorld,
  'operator' | 'signal' | 'answered' | 'broken' | 'overAt' | 'openTrees'
>

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
  const change = (of: string): Change => ({
    begin: ['stop', `--${scope}`, of, `--${mode}`, '--reason', 'chaos'],
    end: ['release', `${scope === 'tree' ? 'conversation' : scope}:${of}`],
    forMs,
  })
  return forATime(async () => {
    const of = scope === 'tree' ? await openTree(world) : name
    return of === undefined ? undefined : change(of)
  }, world)
}

/** The root of a tree in which a child runs. Undefined: none began in time. */
async function openTree({ openTrees, signal, overAt }: OperatorWorld): Promise<string | undefined> {
  for (;;) {
    const [root] = openTrees()
    if (root !== undefined || Date.now() >= overAt || signal.aborted) return root
    await sleep(lookMs)
  }
}

/** A budget of all agents and guests that nobody can use up. So every request of a run is reserved. */
export const ampleBudget = budgetOf(1_000_000_000)

/** A budget in its place that parallel requests use up, for its time. */
export function budgetAndAmple(
  { tokens, forMs }: BudgetFault,
  world: OperatorWorld,
): Promise<Seen> {
  return forATime(async () => ({ begin: budgetOf(tokens), end: ampleBudget, forMs }), world)
}

function budgetOf(tokens: number): string[] {
  return ['budget', 'set', '--window', 'day', '--tokens', `${tokens}`]
}

/** `changeNow`: undefined if there is nothing to change. */
async function forATime(
  changeNow: () => Promise<Change | undefined>,
  { operator, signal, answered, broken, overAt }: OperatorWorld,
): Promise<Seen> {
  await broken.until
  const change = await changeNow()
  if (change === undefined || Date.now() >= overAt) return leftOut
  const { begin, end, forMs } = change
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
