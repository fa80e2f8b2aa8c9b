// No call that waits for a person starts without an approval. A person must approve its exact
// arguments and program in time, with no denial before. The evidence is the people's own records and the
// tools' own records, not the output of the approval stage. In a simulation every call of a tool
// that a rule names waits, or each one for which an enforcing guard requests an approval in time.

import { createHash } from 'node:crypto'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Call, RoundCleared } from '../../../shared/contract/messages.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

export const noUnapprovedStart: Checker = {
  name: 'no-unapproved-start',
  check(evidence) {
    const starts = new Map(evidence.ledger.starts.map((start) => [start.call, start]))
    const answers = Map.groupBy(
      evidence.all('approvals', 'approval-answered'),
      ({ message: { conversation, turn, round, ordinal } }) =>
        JSON.stringify([conversation, turn, round, ordinal]),
    )
    const programs = Map.groupBy(
      evidence.all('rounds-cleared', 'programs-hashed'),
      ({ message: { conversation, turn, round } }) => JSON.stringify([conversation, turn, round]),
    )
    const seen = new Set<string>()
    return evidence
      .all('rounds-cleared', 'round-cleared')
      .flatMap(({ record, message }): Finding[] => {
        const { conversation, turn, round, calls, policy } = message
        const guard = policy.guards.find(({ name }) => name === 'approval')
        const place = JSON.stringify([conversation, turn, round])
        if (seen.has(place)) return []
        seen.add(place)
        const ofRule = guard?.rules?.includes('"requested"') === false
        // The first record of a round counts.
        const hashed = new Map(
          programs.get(place)?.[0]?.message.programs.map(({ ordinal, hash }) => [ordinal, hash]),
        )
        return calls.flatMap((call): Finding[] => {
          const start = starts.get(JSON.stringify([conversation, turn, round, call.ordinal]))
          if (start === undefined) return []
          const isRuled = guard !== undefined && modeFor(guard, call.name) === 'enforce'
          if (!(isRuled && ofRule) && !isRequested(evidence, record, message, call)) return []
          const given = (answers.get(start.call) ?? []).filter(
            (answer) => answer.message.hash === hashOf(call, hashed.get(call.ordinal)),
          )
          const first = given[0]
          const isAllowed =
            first?.message.answer === 'allow' &&
            first.record.time < record.time + (guard?.deadlineMs ?? 0)
          if (isAllowed && first.record.time <= start.time) return []
          const problem =
            first === undefined
              ? 'has no decision'
              : first.message.answer === 'deny'
                ? 'is rejected'
                : 'was approved too late'
          return [
            { problem: `${start.machine} started ${start.call}, which ${problem}`, conversation },
          ]
        })
      })
  },
}

/** An enforcing guard's first answer requests an approval, in time. */
function isRequested(
  evidence: Evidence,
  { partition, offset, time }: StoredRecord,
  { conversation, turn, round, policy }: RoundCleared,
  { ordinal, name }: Call,
): boolean {
  const answers = evidence
    .all('rounds-cleared', 'guard-verdict')
    .filter(
      ({ record, message }) =>
        record.partition === partition &&
        record.offset > offset &&
        message.conversation === conversation &&
        message.turn === turn &&
        message.round === round,
    )
  return policy.guards.some((guard) => {
    const answer = answers.find(({ message }) => message.guard === guard.name)
    return (
      guard.name !== 'approval' &&
      modeFor(guard, name) === 'enforce' &&
      answer !== undefined &&
      answer.record.time < time + guard.deadlineMs &&
      answer.message.verdicts.some((one) => one.ordinal === ordinal && one.verdict === 'ask')
    )
  })
}

/** `program`: undefined never matches, because each question here names one. */
function hashOf({ name, raw }: Call, program: string | undefined): string | undefined {
  if (program === undefined) return undefined
  return createHash('sha256')
    .update(`${name}\0${raw === '' ? '{}' : raw}\0${program}`)
    .digest('hex')
}
