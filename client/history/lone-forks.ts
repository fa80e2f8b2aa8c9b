// The newest forks without an own turn. Only the history names them, so a walk over the activity misses
// them. The walk reads the history back to a time.

import { messageOf } from '../../shared/codec/message-of.ts'
import {
  historyConversation,
  historyPrefix,
  historyRound,
} from '../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { originKey, titleKey } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { titleIn } from './histories.ts'
import { newestRecords } from './newest-records.ts'
import type { ReadableLog } from './readable-log.ts'
import { type ConversationSummary, summaryOfViews } from './summary.ts'

/** The conversation of a key of origins. Undefined: another key. */
export function forkedConversation(key: string): ConversationId | undefined {
  const conversation = historyConversation(key)
  return conversation !== undefined && key === originKey(conversation) ? conversation : undefined
}

/** `since`: the walk ends at older records. `isKnown`: a conversation with activity. */
export type LoneForksAsked = {
  since: Milliseconds
  max: number
  isKnown: (conversation: ConversationId) => boolean
}

/** The newest first. */
export async function newestLoneForks(
  log: ReadableLog,
  { since, max, isKnown }: LoneForksAsked,
): Promise<ConversationSummary[]> {
  const seen = new Set<ConversationId>()
  const found: ConversationSummary[] = []
  for await (const { key, time } of newestRecords(log, 'history')) {
    if (time < since || found.length === max) break
    const conversation = forkedConversation(key)
    if (conversation === undefined || seen.has(conversation) || isKnown(conversation)) continue
    seen.add(conversation)
    const fork = await loneFork(log, conversation, time)
    if (fork !== undefined) found.push(fork)
  }
  return found
}

/** Undefined: it has turns, or was deleted. */
async function loneFork(
  { bus, topicPrefix, partitions }: ReadableLog,
  conversation: ConversationId,
  at: Milliseconds,
): Promise<ConversationSummary | undefined> {
  const partition = partitionOf(conversation, partitions)
  const prefix = historyPrefix(conversation)
  const records = await bus.list({ topic: `${topicPrefix}history`, partition, prefix })
  const origin = records.find(({ key }) => key === originKey(conversation))
  if (messageOf(origin?.value ?? null)?.type !== 'conversation-forked') return undefined
  if (records.some(({ key }) => historyRound(key) !== undefined)) return undefined
  const title = titleIn(records.find(({ key }) => key === titleKey(conversation))?.value ?? null)
  const none = { rounds: [], turns: new Map(), facts: undefined }
  return summaryOfViews({ conversation, at, title, isFork: true, ...none })
}
