// The history of a conversation: its turns, its messages and the whole texts of a call. A round appears
// when it is over. The history of a fork begins with the turns that it shares with its origins.

import { decode } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { conversationOfTurn, originsIn, sharedEntries } from '../../shared/contract/history/fork.ts'
import { historyPrefix, historyTurn } from '../../shared/contract/history/history-keys.ts'
import { onPath } from '../../shared/contract/history/history-path.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { HistoryEntry, Origin } from '../../shared/contract/messages.ts'
import { historyKey, originKey } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import {
  type ConversationMessage,
  messagesIn,
  wholeCallIn,
} from '../../shared/view/messages/messages.ts'
import type { Place } from '../turn/opening.ts'
import type { CallPlace, WholeCall } from '../turn/turn-event.ts'

/** The wait for the history of a call's round, which follows the result of its last call. */
const wholeCallWaitMs = 5_000

/** Entries in any order. `origins`: oldest first; empty: the conversation is no fork. */
export type History = { own: HistoryEntry[]; origins: readonly Origin[] }

/** A turn that ended before now has its first entry here. */
export async function historyOf(place: Place, conversation: ConversationId): Promise<History> {
  const own: HistoryEntry[] = []
  let origins: readonly Origin[] = []
  for (const { value } of await recordsOf(place, conversation)) {
    const message = messageOf(value)
    if (message?.type === 'history-entry') own.push(message)
    else if (message?.type === 'conversation-forked') origins = originsIn(message)
  }
  return { own, origins }
}

/** Throws `history.missing` if some of them were deleted. */
export async function entriesOfOrigin(place: Place, origin: Origin): Promise<HistoryEntry[]> {
  return sharedEntries(origin, (await historyOf(place, origin.conversation)).own)
}

/** The newest turn first, without those of origins. */
export async function turnsInHistory(
  place: Place,
  conversation: ConversationId,
): Promise<number[]> {
  const records = await recordsOf(place, conversation)
  const turns = new Set(records.flatMap(({ key }) => historyTurn(key)?.turn ?? []))
  return [...turns].sort((a, b) => b - a)
}

/**
 * In order, without turns that a later message replaced. Empty: the log has no such conversation. A note
 * stands in the place of deleted messages of an origin: the rest of the fork is still worth reading.
 */
export async function messagesOf(
  place: Place,
  conversation: ConversationId,
): Promise<ConversationMessage[]> {
  const { own, origins } = await historyOf(place, conversation)
  const notes: ConversationMessage[] = []
  const entries: HistoryEntry[] = []
  for (const origin of origins) {
    try {
      entries.push(...(await entriesOfOrigin(place, origin)))
    } catch (error) {
      if (!(error instanceof WeirError && error.code === 'history.missing')) throw error
      const { turn } = origin
      notes.push({ role: 'note', turn, round: 0, kind: 'failure', text: error.message })
    }
  }
  entries.push(...own)
  return [...notes, ...messagesIn(onPath(entries, newestIn(entries)))]
}

/** The newest turn. -1: there is none. */
export function newestIn(entries: readonly HistoryEntry[]): number {
  return entries.reduce((newest, { turn }) => Math.max(newest, turn), -1)
}

function recordsOf({ bus, topicPrefix, partition }: Place, conversation: ConversationId) {
  const topic = `${topicPrefix}history`
  return bus.list({ topic, partition, prefix: historyPrefix(conversation), upToNow: true })
}

/** Waits a moment for the round: its entry follows the result of its last call. */
export async function wholeCall(
  { bus, topicPrefix, partition }: Place,
  conversation: ConversationId,
  { turn, round, ordinal }: CallPlace,
): Promise<WholeCall | undefined> {
  const table = { topic: `${topicPrefix}history`, partition }
  const fork = await bus.get({ ...table, key: originKey(conversation), waitMs: 0 })
  const of = conversationOfTurn(conversation, originsIn(messageOf(fork?.value ?? null)), turn)
  const record = await bus.get({
    ...table,
    key: historyKey({ conversation: of, turn, round }),
    waitMs: wholeCallWaitMs,
  })
  const entry = record?.value ? decode(record.value) : undefined
  const call = entry?.type === 'history-entry' ? wholeCallIn(entry, ordinal) : undefined
  return call && { turn, round, ordinal, ...call }
}
