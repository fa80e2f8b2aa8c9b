// An operator's stop while the fleet runs, and its release. It hit if turns were answered again.

import { setTimeout as sleep } from 'node:timers/promises'
import { type GuardWorld, leftOut } from './guard-faults.ts'
import type { StopFault } from './plan.ts'

type StopWorld = Pick<GuardWorld, 'operator' | 'signal' | 'answered' | 'broken' | 'overAt'>

const answeredMs = 60_000
const lookMs = 200

/** The stop, for its time, and its release. */
export async function stopAndRelease(
  { scope, name, mode, forMs }: StopFault,
  { operator, signal, answered, broken, overAt }: StopWorld,
): Promise<{ hit: boolean; detail: string }> {
  await broken.until
  if (Date.now() >= overAt) return leftOut
  const flags = [`--${scope}`, name, `--${mode}`, '--reason', 'chaos']
  const isStopped = await operator.command(['stop', ...flags], signal)
  await sleep(forMs)
  const isReleased = await operator.command(['release', `${scope}:${name}`], signal)
  const before = answered()
  for (
    const deadline = Date.now() + answeredMs;
    answered() === before && Date.now() < deadline && !signal.aborted;
  )
    await sleep(lookMs)
  return {
    hit: isStopped && isReleased && answered() > before,
    detail: `${scope} ${name}, ${mode}, ${isReleased ? 'released' : 'never released'}, ${answered() - before} turns right after it`,
  }
}
