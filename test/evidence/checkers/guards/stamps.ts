// A round waits for the guards that were registered at its model request. Each stamp equals a state
// of the table `policies` between the begin and the end of its attempt. A gateway may see a change
// a moment late. It may see it later if the broker or the gateway itself was paused.

import type { GuardInForce, GuardRegistration } from '../../../../shared/contract/messages.ts'
import { addressOf, type Checker, type Evidence, recordsOf } from '../../evidence.ts'

/** Allows for a machine that is busy with a fleet. */
const lateMs = 5_000

export const stamps: Checker<'disturbances'> = {
  name: 'stamps',
  rule: 'A round waits for the guards that were registered at its model request.',
  needs: ['disturbances'],
  check(evidence) {
    return stampAges(evidence).flatMap(({ guard, ageMs, before, at }) => {
      if (ageMs === undefined)
        return [
          {
            problem: `guard ${guard} was never registered as in this round's stamp, or not so late`,
            at,
          },
        ]
      if (ageMs <= lateMs || isDisturbed(evidence, { from: before - ageMs, to: before + lateMs }))
        return []
      return [
        {
          problem: `the state of guard ${guard} in this round ended ${ageMs} ms before its attempt began`,
          at,
        },
      ]
    })
  },
}

/**
 * `ageMs`: the time from the end of the stamped state to the attempt's begin (`before`). Undefined:
 * there was no such state.
 */
export type StampAge = { guard: string; ageMs: number | undefined; before: number; at: string }

export function stampAges(evidence: Evidence): StampAge[] {
  const histories = historiesOf(evidence)
  const begun = new Map(
    recordsOf(evidence, 'attempt-started').map(({ message, time }) => [message.attempt, time]),
  )
  return recordsOf(evidence, 'attempt-finished').flatMap((record) => {
    const { attempt, policy } = record.message
    const before = begun.get(attempt)
    if (before === undefined) return []
    const guards = new Set([...histories.keys(), ...policy.guards.map(({ name }) => name)])
    return [...guards].map((guard) => {
      const stamp = contentOf(policy.guards.find(({ name }) => name === guard))
      return {
        guard,
        ageMs: ageOf(stamp, histories.get(guard) ?? [], { before, until: record.time }),
        before,
        at: addressOf(record),
      }
    })
  })
}

/** A state of a guard, valid from its time on. No registration: the guard is removed. */
export type State = { from: number; content: string; registration: GuardRegistration | undefined }

/** By guard. */
export function historiesOf({ records }: Evidence): Map<string, State[]> {
  const histories = new Map<string, State[]>()
  const written = records.filter(
    ({ topic, key }) => topic === 'policies' && key.startsWith('guard:'),
  )
  for (const { key, message, time } of written) {
    const guard = key.slice('guard:'.length)
    const registration = message?.type === 'guard-registration' ? message : undefined
    histories.set(guard, [
      ...(histories.get(guard) ?? []),
      { from: time, content: contentOf(registration), registration },
    ])
  }
  return histories
}

function ageOf(
  stamp: string,
  history: State[],
  { before, until }: { before: number; until: number },
): number | undefined {
  const unregistered = { from: Number.NEGATIVE_INFINITY, content: contentOf(undefined) }
  const states = [unregistered, ...history]
  const ages = states.flatMap(({ from, content }, i) => {
    const to = states[i + 1]?.from ?? Number.POSITIVE_INFINITY
    return content === stamp && from <= until ? [Math.max(0, before - to)] : []
  })
  return ages.length === 0 ? undefined : Math.min(...ages)
}

export function contentOf(guard: Omit<GuardInForce, 'name'> | undefined): string {
  return guard === undefined
    ? 'not there'
    : JSON.stringify([guard.version, guard.tools, guard.deadlineMs, guard.onTimeout, guard.rules])
}

function isDisturbed(
  { disturbances = [] }: Evidence,
  { from, to }: { from: number; to: number },
): boolean {
  return disturbances.some(
    ({ kind, process, ...span }) =>
      (kind === 'broker' || process.startsWith('llm-gateway') || process.startsWith('all')) &&
      span.from <= to &&
      span.to >= from,
  )
}
