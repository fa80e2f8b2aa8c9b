// Counts the successful calls that repeat a call of the same turn: the same tool, arguments and
// result. They form loops of successes, so they explain false alarms.

import { fingerprint } from '../../../services/loop-detector/evidence/fingerprint.ts'
import { readArguments } from '../../../shared/contract/identity/arguments.ts'
import type { RoundOutcome } from '../../../shared/contract/messages.ts'
import { touch } from '../../../shared/lib/recency.ts'

/** Open turns. Beyond this number, the first calls of the oldest are forgotten. */
const turnsMax = 10_000

/** Returns the ordinals of such calls. Call it once for each round, in order. */
export function createRepetitions(): (outcome: RoundOutcome) => number[] {
  const turns = new Map<string, { turn: number; seen: Set<string> }>()

  return ({ conversation, turn, response, results }) => {
    const known = turns.get(conversation)
    const { seen } = known?.turn === turn ? known : { seen: new Set<string>() }
    touch(turns, conversation, { turn, seen }, turnsMax)
    const repeated: number[] = []
    for (const { ordinal, status, text } of results) {
      const call =
        status === 'ok' ? response.calls.find((one) => one.ordinal === ordinal) : undefined
      if (call === undefined) continue
      const print = fingerprint('round', call.name, readArguments(call.raw).canonical, text)
      if (seen.has(print)) repeated.push(ordinal)
      seen.add(print)
    }
    return repeated
  }
}
