// The answer to a message that was sent before. A client that was killed sends its message again
// under the same id. The conversation ignores the repeat, so this file looks up the end of the
// turn.

import { batchesOf, firstOffsetSince, leadersApartMs } from '../shared/bus/range.ts'
import { decode } from '../shared/codec/codec.ts'
import type { ConversationId, SentMessage } from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import type { TurnFinished } from '../shared/contract/messages.ts'
import { historyPrefix } from '../shared/contract/topology.ts'
import { openingOf, type Place } from './opening.ts'

/**
 * Searches as many of the newest turns as the conversation remembers message ids. Undefined: the
 * message opened none of them, or its turn is not over. Costs a few reads for each turn, and for
 * the right turn its activity.
 */
export async function findEarlierAnswer(
  place: Place,
  message: SentMessage,
): Promise<TurnFinished | undefined> {
  for (const turn of await newestTurns(place, message.conversation)) {
    const opening = await openingOf(place, turn)
    if (opening?.messageId === message.messageId)
      return turnFinishedSince(place, message, opening.time)
  }
  return undefined
}

/**
 * Newest first. The client listens already, so only a turn that ended before then must be found
 * here. The first entry of such a turn is in a list up to now.
 */
async function newestTurns(
  { bus, topicPrefix, partition }: Place,
  conversation: ConversationId,
): Promise<number[]> {
  const entries = await bus.list({
    topic: `${topicPrefix}history`,
    partition,
    prefix: historyPrefix(conversation),
    upToNow: true,
  })
  const turns = new Set(entries.map(({ key }) => (JSON.parse(key) as [string, number, number])[1]))
  return [...turns].sort((a, b) => b - a).slice(0, limits.recentMessageIdsMax)
}

async function turnFinishedSince(
  place: Place,
  { conversation, messageId }: SentMessage,
  time: number,
): Promise<TurnFinished | undefined> {
  const { bus, topicPrefix, partition } = place
  const topic = `${topicPrefix}activity`
  const ends = (await bus.ends(topic)).find((ends) => ends.partition === partition)
  const range = { topic, partition, from: ends?.begin ?? 0, to: ends?.end ?? 0 }
  const from = await firstOffsetSince(bus, range, time - leadersApartMs)
  for await (const records of batchesOf(bus, { ...range, from })) {
    for (const { key, value } of records) {
      if (key !== conversation || value === null) continue
      const activity = decode(value)
      if (activity.type === 'turn-finished' && activity.messageId === messageId) return activity
    }
  }
  return undefined
}
