// The purpose of guards (R6), checked without the executor's own decisions. The evidence is the
// round's stamp, each guard's topic, the copies of its answers in the executor's inbox, and the
// tools' own records. A call that an enforcing guard rejected never started. No call started before
// every enforcing guard had allowed it. The exception is on-timeout: allow, after the deadline. An
// answer that came too late to the inbox allows nothing. A request for a person is no rejection here
// (approvals.ts, no-unapproved-start.ts).

import type { GuardInForce } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  firstOfRound,
  type LoggedMessage,
  recordsOf,
  roundKey,
  type Start,
} from '../../evidence.ts'
import { modeOf } from '../calls/waits.ts'

export const deniedNeverStart: Checker = {
  name: 'denied-never-start',
  rule: 'A call that an enforcing guard denies, or does not answer in time, never starts.',
  needs: [],
  check: findDeniedStarts,
}

export function findDeniedStarts(evidence: Evidence): Finding[] {
  const answers = firstAnswers(evidence)
  const copies = inboxAnswers(evidence)
  const startsOf = Map.groupBy(evidence.starts, ({ call }) => call)
  return [...firstOfRound(recordsOf(evidence, 'round-cleared'))].flatMap(([round, cleared]) =>
    cleared.message.calls.flatMap(({ ordinal, name }) => {
      const key = callKey(cleared.message, ordinal)
      const enforcing = cleared.message.policy.guards.filter(
        (guard) => modeOf(guard, name) === 'enforce',
      )
      return enforcing.flatMap((guard) =>
        (startsOf.get(key) ?? []).flatMap((start) => {
          const answer = answers.get(guard.name)?.get(round)
          const copy = copies.get(round)?.find(({ message }) => message.guard === guard.name)
          const why =
            forbidden(start, ordinal, guard, cleared.time, answer) ??
            forbiddenBy(copy, ordinal, guard, cleared.time)
          return why === undefined
            ? []
            : [{ problem: `${key} started at ${start.at}, ${why}`, at: addressOf(cleared) }]
        }),
      )
    }),
  )
}

/** The answers of guards in the executor's inbox after a round was cleared, by round, in order. */
export function inboxAnswers(evidence: Evidence): Map<string, LoggedMessage<'guard-verdict'>[]> {
  const answers = new Map<string, LoggedMessage<'guard-verdict'>[]>()
  for (const record of recordsOf(evidence, 'round-cleared', 'guard-verdict')) {
    const { message, topic } = record
    const round = roundKey(message)
    if (message.type === 'round-cleared') answers.set(round, answers.get(round) ?? [])
    else if (topic === 'rounds-cleared')
      answers.get(round)?.push(record as LoggedMessage<'guard-verdict'>)
  }
  return answers
}

/** By guard and round. The topic identifies the guard. Only its first answer to a round counts. */
export function firstAnswers(
  evidence: Evidence,
): Map<string, Map<string, LoggedMessage<'guard-verdict'>>> {
  const answers = new Map<string, Map<string, LoggedMessage<'guard-verdict'>>>()
  for (const record of recordsOf(evidence, 'guard-verdict')) {
    const [, guard] = record.topic.split('guard-verdicts.')
    if (guard === undefined) continue // the relay's copy
    const ofGuard = answers.get(guard) ?? new Map<string, LoggedMessage<'guard-verdict'>>()
    answers.set(guard, ofGuard)
    const round = roundKey(record.message)
    if (!ofGuard.has(round)) ofGuard.set(round, record)
  }
  return answers
}

/** The reason why this guard forbade the start at that time. */
function forbidden(
  { at }: Start,
  ordinal: number,
  { name, onTimeout, deadlineMs }: GuardInForce,
  clearedAt: number,
  answer: LoggedMessage<'guard-verdict'> | undefined,
): string | undefined {
  // its answer may have come too late
  if (onTimeout === 'allow' && at >= clearedAt + deadlineMs) return undefined
  if (answer === undefined) return `without a verdict of guard ${name}, which enforced`
  const verdict = answer.message.verdicts.find((one) => one.ordinal === ordinal)?.verdict
  if (verdict !== 'allow' && verdict !== 'ask')
    return `though guard ${name} ${verdict === 'deny' ? 'rejected it' : 'left it out'}: ${addressOf(answer)}`
  return at < answer.time ? `before guard ${name} let it pass: ${addressOf(answer)}` : undefined
}

/** The same by the copy in the executor's inbox. */
function forbiddenBy(
  copy: LoggedMessage<'guard-verdict'> | undefined,
  ordinal: number,
  { name, onTimeout, deadlineMs }: GuardInForce,
  clearedAt: number,
): string | undefined {
  if (copy === undefined || copy.time >= clearedAt + deadlineMs)
    return onTimeout === 'deny' ? `and guard ${name} did not answer in time` : undefined
  const verdicts = copy.message.verdicts.filter((one) => one.ordinal === ordinal)
  const isRejected = verdicts.length === 0 || verdicts.some(({ verdict }) => verdict === 'deny')
  return isRejected ? `though guard ${name} rejected it: ${addressOf(copy)}` : undefined
}
