// Finds the first round on which a guard decided differently the second time.

import { messageOf } from '../../../shared/codec/message-of.ts'
import type { GuardVerdict } from '../../../shared/contract/messages.ts'
import type { AnsweredRound } from './guard-answer.ts'

/**
 * Describes the first such round. Undefined: there is none. Only decisions are compared, and an
 * answer without enough time has no decision.
 */
export function fickleRound(
  rounds: readonly AnsweredRound[],
  again: readonly AnsweredRound[],
): string | undefined {
  for (const [at, { verdict }] of rounds.entries()) {
    const [one, other] = [verdict, again[at]?.verdict].map((bytes) => messageOf(bytes))
    if (one?.type !== 'guard-verdict' || other?.type !== 'guard-verdict') continue
    if ([one, other].some(hadNoTime) || decisionOf(one) === decisionOf(other)) continue
    const { turn, round } = one
    return (
      `it judges the same round (${round} of the turn at offset ${turn}) differently at another time: ${decisionOf(one)}, then ${decisionOf(other)}. ` +
      'Its live decision is therefore unknown. A guard must judge by its state and the round alone, with round.time as the time, ' +
      'and not by a clock, by chance or by data that it keeps elsewhere'
    )
  }
  return undefined
}

function hadNoTime({ verdicts }: GuardVerdict): boolean {
  return verdicts.some(({ code }) => code === 'guard.stuck')
}

function decisionOf({ verdicts, intervention }: GuardVerdict): string {
  const calls = verdicts.map(
    ({ ordinal, verdict, code }) => `call ${ordinal} ${verdict}${code === '' ? '' : ` (${code})`}`,
  )
  return [...calls, ...(intervention === null ? [] : ['an intervention'])].join(', ')
}
