// Finds the first round on which a guard decided differently the second time.

import type { GuardVerdict } from '../../../shared/contract/messages.ts'
import { type AnsweredRound, decoded } from './guard-answer.ts'

/**
 * Of the first such round, in words; undefined: there is none. What a guard says beside its
 * decision may differ, and one that had no time decided nothing.
 */
export function fickleRound(
  rounds: readonly AnsweredRound[],
  again: readonly AnsweredRound[],
): string | undefined {
  for (const [at, { verdict }] of rounds.entries()) {
    const [one, other] = [verdict, again[at]?.verdict].map((bytes) => bytes && decoded(bytes))
    if (one?.type !== 'guard-verdict' || other?.type !== 'guard-verdict') continue
    if ([one, other].some(hadNoTime) || decisionOf(one) === decisionOf(other)) continue
    const { turn, round } = one
    return (
      `it decides otherwise when it is asked about the same round (${round} of turn ${turn}) at another time: ${decisionOf(one)}, then ${decisionOf(other)}. ` +
      'So what it would have decided then nobody knows: it must judge by its state and the round alone, whose round.time is the time, and not by a clock, ' +
      'by chance or by what it keeps elsewhere'
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
  return [...calls, ...(intervention === null ? [] : ['a word to the model'])].join(', ')
}
