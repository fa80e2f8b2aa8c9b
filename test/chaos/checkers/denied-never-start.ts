// The purpose of guards (R6), checked without the executor's own decisions. The evidence is the
// round's stamp, each guard's topic, and the tools' own records. A call that an enforcing guard
// rejected never started. No call started before every enforcing guard had allowed it. The
// exception is on-timeout: allow, after the deadline.

import type { GuardInForce } from '../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type LoggedMessage,
  recordsOf,
  roundKey,
  type Start,
} from '../evidence.ts'
import { modeOf } from '../waits.ts'

export const rejectedNeverStart: Checker = {
  name: 'denied-never-start',
  check(evidence) {
    const answers = firstAnswers(evidence)
    const startsOf = Map.groupBy(evidence.starts, ({ call }) => call)
    return recordsOf(evidence, 'round-cleared').flatMap((cleared) =>
      cleared.message.calls.flatMap(({ ordinal, name }) => {
        const key = callKey(cleared.message, ordinal)
        const enforcing = cleared.message.policy.guards.filter(
          (guard) => modeOf(guard, name) === 'enforce',
        )
        return enforcing.flatMap((guard) =>
          (startsOf.get(key) ?? []).flatMap((start) => {
            const answer = answers.get(guard.name)?.get(roundKey(cleared.message))
            const why = forbidden(start, ordinal, guard, cleared.time, answer)
            return why === undefined
              ? []
              : [
                  {
                    checker: 'denied-never-start',
                    problem: `${key} started at ${start.at}, ${why}`,
                    at: addressOf(cleared),
                  },
                ]
          }),
        )
      }),
    )
  },
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
  if (verdict !== 'allow')
    return `though guard ${name} ${verdict === 'deny' ? 'rejected it' : 'left it out'}: ${addressOf(answer)}`
  return at < answer.time ? `before guard ${name} let it pass: ${addressOf(answer)}` : undefined
}
