// The history of a conversation with hidden values, as its readers may see it (REDACTED-1).

import { letterCodec, messageOf } from '../../shared/codec/message-of.ts'
import type { HistoryEntry } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { historyPrefix } from '../../shared/contract/topology.ts'
import { distinctRules, redactionRules } from '../../shared/runtime/redaction/agent-redaction.ts'
import { createRedaction } from '../../shared/runtime/redaction/redaction.ts'
import type { ReadableLog } from '../history/readable-log.ts'

export async function shownEntries(
  { bus, topicPrefix, partitions }: ReadableLog,
  conversation: string,
): Promise<HistoryEntry[]> {
  const records = await bus.list({
    topic: `${topicPrefix}history`,
    partition: partitionOf(conversation, partitions),
    prefix: historyPrefix(conversation),
  })
  const entries = records.flatMap(({ value }) => {
    const entry = messageOf(value)
    return entry?.type === 'history-entry' ? [entry] : []
  })
  const rules = redactionRules(distinctRules(entries.flatMap(({ redact }) => redact)), 'word')
  const redaction = createRedaction(rules, { keepsIds: true, letters: letterCodec })
  for (const entry of entries) redaction.learn(entry)
  return entries.flatMap((entry) => (redaction.redact(entry) as HistoryEntry | undefined) ?? [])
}
