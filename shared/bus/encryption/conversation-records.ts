// The records of conversations in all topics, for work that must miss none.

import type { Bus, StoredRecord } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { batchesOf, noneIfMissing } from '../range.ts'
import { conversationIn } from './encryption.ts'

export type RecordsAsked = {
  bus: Pick<Bus, 'ends' | 'read'>
  topicPrefix: string
  /** Without the prefix: those of the topology, and those of the guards. */
  topics: readonly string[]
  /** Default: all. */
  partition?: number
}

export async function* conversationRecords({
  bus,
  topicPrefix,
  topics,
  partition: only,
}: RecordsAsked): AsyncGenerator<{ conversation: ConversationId; record: StoredRecord }> {
  for (const name of topics) {
    const topic = topicPrefix + name
    for (const { partition, begin: from, end: to } of await bus.ends(topic).catch(noneIfMissing))
      if (only === undefined || partition === only)
        for await (const records of batchesOf(bus, { topic, partition, from, to }))
          for (const record of records) {
            const conversation = conversationIn(name, record.key)
            if (conversation !== undefined) yield { conversation, record }
          }
  }
}
