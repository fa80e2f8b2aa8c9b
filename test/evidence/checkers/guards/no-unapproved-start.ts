// No call that waits for a person starts without an approval. A person must approve its exact
// arguments and program in time, with no denial before. The evidence is the people's own records and
// the tools' own records, not the output of the approval stage. A call waits for a person if a rule
// names its tool, or if an enforcing guard requests an approval in time.

import { createHash } from 'node:crypto'
import type { Call } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  firstOfRound,
  type LoggedMessage,
  recordsOf,
} from '../../evidence.ts'
import { modeOf } from '../calls/waits.ts'
import { inboxAnswers } from './denied-never-start.ts'

export const noUnapprovedStart: Checker<'ruledByTool'> = {
  name: 'no-unapproved-start',
  rule: 'A call that waits for a person never starts without an approval of its arguments.',
  needs: ['ruledByTool'],
  check(evidence) {
    const starts = new Map(evidence.starts.map((start) => [start.call, start]))
    const approvals = Map.groupBy(recordsOf(evidence, 'approval-answered'), ({ message }) =>
      callKey(message, message.ordinal),
    )
    const programs = firstOfRound(recordsOf(evidence, 'programs-hashed'))
    const answers = inboxAnswers(evidence)
    return [...firstOfRound(recordsOf(evidence, 'round-cleared'))].flatMap(([round, cleared]) => {
      const { message, time } = cleared
      const guard = message.policy.guards.find(({ name }) => name === 'approval')
      const isRule = guard?.rules?.includes('"requested"') === false
      const hashes = new Map(
        programs.get(round)?.message.programs.map(({ ordinal, hash }) => [ordinal, hash]),
      )
      return message.calls.flatMap((call) => {
        const start = starts.get(callKey(message, call.ordinal))
        if (start === undefined) return []
        const isRuled = isRule && guard !== undefined && modeOf(guard, call.name) === 'enforce'
        if (!isRuled && !isRequested(answers.get(round) ?? [], cleared, call)) return []
        const first = approvals
          .get(start.call)
          ?.find((answer) => answer.message.hash === hashOf(call, hashes.get(call.ordinal)))
        const isAllowed =
          first?.message.answer === 'allow' && first.time < time + (guard?.deadlineMs ?? 0)
        if (isAllowed && first.time <= start.at) return []
        const problem =
          first === undefined
            ? 'has no decision'
            : first.message.answer === 'deny'
              ? 'is rejected'
              : 'was approved too late'
        return [
          {
            problem: `${start.process} started ${start.call}, which ${problem}`,
            at: addressOf(cleared),
          },
        ]
      })
    })
  },
}

/** An enforcing guard's first answer requests an approval, in time. */
function isRequested(
  answers: LoggedMessage<'guard-verdict'>[],
  { message: { policy }, time }: LoggedMessage<'round-cleared'>,
  { ordinal, name }: Call,
): boolean {
  return policy.guards.some((guard) => {
    const answer = answers.find(({ message }) => message.guard === guard.name)
    return (
      guard.name !== 'approval' &&
      modeOf(guard, name) === 'enforce' &&
      answer !== undefined &&
      answer.time < time + guard.deadlineMs &&
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
