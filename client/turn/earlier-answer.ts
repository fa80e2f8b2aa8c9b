// The turn of a message that was sent before. A client that was killed sends its message again
// under the same id. The conversation ignores the repeat, so this file looks up the turn.

import { rangeSince } from '../../shared/bus/range.ts'
import type { Offset } from '../../shared/contract/bus.ts'
import type { SentMessage } from '../../shared/contract/ids.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { newestTurns } from '../conversation/conversation-turns.ts'
import { endOnly, pastRecords } from '../edge/past-records.ts'
import { openingOf, type Place } from './opening.ts'

/** `from`: an offset of the activity before the turn. `finished` undefined: it is not over. */
export type EarlierAnswer = { finished: TurnFinished | undefined; from: Offset }

/**
 * Searches as many of the newest turns as the conversation remembers message ids. Undefined: the
 * message opened none of them. Costs a few reads for each turn, and for the right turn its activity.
 */
export async function findEarlierAnswer(
  place: Place,
  message: SentMessage,
): Promise<EarlierAnswer | undefined> {
  for (const turn of await newestTurns(place, message.conversation)) {
    const opening = await openingOf(place, turn)
    if (opening?.messageId === message.messageId)
      return turnFinishedSince(place, message, opening.time)
  }
  return undefined
}

async function turnFinishedSince(
  place: Place,
  { conversation, messageId }: SentMessage,
  time: number,
): Promise<EarlierAnswer> {
  const { bus, topicPrefix, partition } = place
  const range = await rangeSince(bus, { topic: `${topicPrefix}activity`, partition }, time)
  for await (const { message } of pastRecords(bus, range, conversation, endOnly))
    if (message.messageId === messageId) return { finished: message, from: range.from }
  return { finished: undefined, from: range.from }
}
