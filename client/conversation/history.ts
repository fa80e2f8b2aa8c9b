// The history of a conversation: its turns, its messages and the whole texts of a call. A round appears
// when it is over.

import { decode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { historyKey, historyPrefix, historyTurn } from '../../shared/contract/topology.ts'
import {
  type ConversationMessage,
  messagesIn,
  wholeCallIn,
} from '../../shared/view/messages/messages.ts'
import type { Place } from '../turn/opening.ts'
import type { CallPlace, WholeCall } from '../turn/turn-event.ts'

/** The newest turn first. */
export async function turnsInHistory(
  place: Place,
  conversation: ConversationId,
): Promise<number[]> {
  const entries = await entriesOf(place, conversation)
  const turns = new Set(entries.flatMap(({ key }) => historyTurn(key)?.turn ?? []))
  return [...turns].sort((a, b) => b - a)
}

/** In order. Empty: the log has no such conversation. */
export async function messagesOf(
  place: Place,
  conversation: ConversationId,
): Promise<ConversationMessage[]> {
  const records = await entriesOf(place, conversation)
  const entries = records.map(({ value }) => messageOf(value))
  return messagesIn(entries.filter((entry) => entry?.type === 'history-entry'))
}

/** A turn that ended before now has its first entry here. */
function entriesOf({ bus, topicPrefix, partition }: Place, conversation: ConversationId) {
  const topic = `${topicPrefix}history`
  return bus.list({ topic, partition, prefix: historyPrefix(conversation), upToNow: true })
}

/** Waits a moment for the round: its entry follows the result of its last call. */
export async function wholeCall(
  { bus, topicPrefix, partition }: Place,
  conversation: ConversationId,
  { turn, round, ordinal }: CallPlace,
): Promise<WholeCall | undefined> {
  const record = await bus.get({
    topic: `${topicPrefix}history`,
    partition,
    key: historyKey({ conversation, turn, round }),
    waitMs: limits.wholeCallWaitMs,
  })
  const entry = record?.value ? decode(record.value) : undefined
  const call = entry?.type === 'history-entry' ? wholeCallIn(entry, ordinal) : undefined
  return call && { turn, round, ordinal, ...call }
}
