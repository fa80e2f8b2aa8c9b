// The turn of a message that was sent before. A client that was killed sends its message again
// under the same id. The conversation ignores the repeat, so this file looks up the turn.

import { batchesOf, firstOffsetSince, leadersApartMs } from '../../shared/bus/range.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Offset } from '../../shared/contract/bus.ts'
import type { SentMessage } from '../../shared/contract/ids.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { newestTurns } from '../conversation/conversation-turns.ts'
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
  const topic = `${topicPrefix}activity`
  const ends = (await bus.ends(topic)).find((ends) => ends.partition === partition)
  const range = { topic, partition, from: ends?.begin ?? 0, to: ends?.end ?? 0 }
  const from = await firstOffsetSince(bus, range, time - leadersApartMs)
  for await (const records of batchesOf(bus, { ...range, from })) {
    for (const { key, value } of records) {
      if (key !== conversation || value === null) continue
      const activity = decode(value)
      if (activity.type === 'turn-finished' && activity.messageId === messageId)
        return { finished: activity, from }
    }
  }
  return { finished: undefined, from }
}
