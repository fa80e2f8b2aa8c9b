// Reads the history of each of the newest conversations. Uses the index of the bus if there is one.
// Otherwise it reads the partitions once, for all conversations together.

import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { HistoryEntry, Usage } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { historyConversation, historyPrefix, isGuest } from '../../shared/contract/topology.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import { withoutReminders } from '../guard/reminders.ts'
import { contextIn } from './context-turns.ts'
import { firstWords } from './first-words.ts'
import { newestIds, type Window } from './newest-records.ts'
import type { ReadableLog } from './readable-log.ts'
import { scan } from './scan.ts'

/** The part of a history entry that the list needs. `question`: the first words of round 0. */
export type RoundUsage = Pick<HistoryEntry, 'turn' | 'round'> & {
  usage: Usage | undefined
  question: string | undefined
}

/** Undefined: the conversation became active after the read began. */
export type Histories = (conversation: ConversationId) => Promise<Iterable<RoundUsage> | undefined>

/**
 * `ids`: only of these conversations. Without an index, memory is a few numbers per round of these,
 * otherwise of the `max` newest conversations.
 */
export async function historiesOf(
  log: ReadableLog,
  {
    max,
    ids,
    window,
  }: { max: number; ids: ReadonlySet<ConversationId> | undefined; window: Window },
): Promise<Histories> {
  if (!log.hasIndex) return historiesRead(log, [...(ids ?? (await newestIds(log, max, window)))])
  return async (conversation) => {
    const partition = partitionOf(conversation, log.partitions)
    const records = await log.bus.list({
      topic: `${log.topicPrefix}history`,
      partition,
      prefix: historyPrefix(conversation),
    })
    const isContext = contextIn(conversation, log.bundle)
    return records
      .flatMap((record) => usageOf(record, log) ?? [])
      .filter(({ turn }) => !isContext(turn))
  }
}

async function historiesRead(log: ReadableLog, ids: string[]): Promise<Histories> {
  const found = new Map(ids.map((id) => [id, new Map<string, RoundUsage>()]))
  for (const partition of new Set(ids.map((id) => partitionOf(id, log.partitions))))
    for await (const records of scan(log, { topic: 'history', partition }))
      for (const record of records) {
        const rounds = found.get(historyConversation(record.key) ?? '')
        const usage = rounds && usageOf(record, log)
        if (usage === undefined) rounds?.delete(record.key)
        else rounds?.set(record.key, usage)
      }
  return async (conversation) => found.get(conversation)?.values()
}

function usageOf(
  { value }: StoredRecord,
  { unredacted }: Pick<ReadableLog, 'unredacted'>,
): RoundUsage | undefined {
  const entry = messageOf(value)
  if (entry?.type !== 'history-entry') return undefined
  const { conversation, turn, round, response } = entry
  const isShown = unredacted === true || entry.user === null
  const { user } = isShown ? entry : redactedActivity(entry, entry.redact)
  return {
    ...{ turn, round, usage: response?.usage },
    question: user === null ? undefined : questionIn(conversation, user),
  }
}

/** The first words of a message. A guest's client may have put its own blocks before them. */
function questionIn(conversation: ConversationId, text: string): string {
  return firstWords((isGuest(conversation) && withoutReminders(text)) || text)
}
