// R5: an `unknown` always has a cause between the claim and the result. The cause is a
// fault of the claiming process or of the broker, a cancel of the turn, or a stop. If the claiming process
// is not known, a fault of any process that runs tools counts. On a busy machine a call can expire before
// its tool has started.

import {
  addressOf,
  boundOn,
  type Checker,
  callKey,
  type Disturbance,
  type Evidence,
  recordsOf,
  turnKey,
} from '../../evidence.ts'
import { type AcceptedClaim, type ClearedCall, clearedCalls } from './claims.ts'
import { processesOfOwners } from './processes-of-owners.ts'

/**
 * The broker, the tools and the faults share one machine's clock. A fault is noted when it is done,
 * and its effect comes a little later.
 */
const idleSlackMs = 1_000

/** The cause of an unknown outcome, counted in the report. */
export type Explanation =
  | 'cancelled'
  | 'stopped by an operator'
  | 'owner disturbed'
  | 'unknown owner, some executor disturbed'
  | 'broker disturbed'
  | 'busy machine'

export const unknownExplained: Checker<'disturbances'> = {
  name: 'unknown-explained',
  rule: 'An unknown outcome has a cause between the claim and the result.',
  needs: ['disturbances'],
  check(evidence) {
    return explainUnknowns(evidence).flatMap(({ call, why, at, detail }) =>
      why === undefined
        ? [{ problem: `${call} is outcome_unknown, and nothing explains it: ${detail}`, at }]
        : [],
    )
  },
}

export function explainUnknowns(
  evidence: Evidence,
): { call: string; why: Explanation | undefined; at: string; detail: string }[] {
  const calls = clearedCalls(evidence)
  const owners = processesOfOwners(evidence, calls)
  const busyMs = 20 * usualStartMs(evidence, calls)
  const cancelled = new Set(recordsOf(evidence, 'cancel').map(({ message }) => turnKey(message)))
  return recordsOf(evidence, 'round-outcome').flatMap((record) =>
    record.message.results.flatMap((result) => {
      if (result.status !== 'unknown') return []
      const key = callKey(record.message, result.ordinal)
      const call = calls.get(key)
      const isCancelled = cancelled.has(turnKey(record.message))
      const why =
        call === undefined
          ? undefined
          : explain({ call, owners, evidence, isCancelled, busyMs, until: record.time })
      const claims = call?.claims.map(
        ({ owner, time, end }) => `${owners.get(owner) ?? owner} claimed at ${time}, ${end.kind}`,
      )
      return [
        {
          call: key,
          why,
          at: addressOf(record),
          detail: `${result.reason}; ${claims?.join('; ') ?? 'it was never cleared'}`,
        },
      ]
    }),
  )
}

type Question = {
  call: ClearedCall
  owners: Map<string, string>
  evidence: Evidence
  isCancelled: boolean
  /** A claim that ends sooner may end before its tool starts. */
  busyMs: number
  until: number
}

function explain({
  call,
  owners,
  evidence,
  isCancelled,
  busyMs,
  until,
}: Question): Explanation | undefined {
  const { disturbances = [] } = evidence
  const slackMs = boundOn(evidence, idleSlackMs)
  const lost = call.claims.filter(({ end }) => ['lapsed', 'goes on', 'open'].includes(end.kind))
  const stopped = call.claims.filter(
    ({ end }) => end.kind === 'reported' && end.status === 'unknown',
  )
  for (const claim of [...lost, ...stopped]) {
    const window = { from: claim.time - slackMs, to: endOf(claim, until) + slackMs }
    const process = owners.get(claim.owner)
    const hits = disturbances.filter((disturbance) => overlaps(disturbance, window))
    if (process !== undefined && hits.some((hit) => hit.process === process))
      return 'owner disturbed'
    if (
      process === undefined &&
      hits.some((hit) => hit.process.startsWith('executor') || hit.process.startsWith('all'))
    )
      return 'unknown owner, some executor disturbed'
    if (hits.some((hit) => hit.kind === 'broker')) return 'broker disturbed'
  }
  if (isCancelled) return 'cancelled'
  if (call.isStopped) return 'stopped by an operator'
  return lost.some((claim) => endOf(claim, until) - claim.time < busyMs)
    ? 'busy machine'
    : undefined
}

/** The time within which nine of ten tools of the run start after their claims. */
function usualStartMs({ starts }: Evidence, calls: Map<string, ClearedCall>): number {
  const waits = starts.flatMap(({ call, at }) => {
    const claim = calls.get(call)?.claims.findLast(({ time }) => time <= at)
    return claim === undefined ? [] : [at - claim.time]
  })
  return waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.9)] ?? 0
}

function endOf({ end }: AcceptedClaim, until: number): number {
  return end.kind === 'open' ? until : end.time
}

function overlaps({ from, to }: Disturbance, window: { from: number; to: number }): boolean {
  return from <= window.to && to >= window.from
}
