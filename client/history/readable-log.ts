// A log that is open for reading, and the ends of its topics.

import type { Bundle } from '../../shared/bus/bundle/bus.ts'
import type { Bus, PartitionEnds } from '../../shared/contract/bus.ts'
import type { GuardTopicName, TopicName } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'

export type ReadableLog = {
  bus: Bus
  topicPrefix: string
  /** The number that the topics have, which may differ from the setting. */
  partitions: number
  /**
   * The bus can list a table by key at once. Otherwise it would copy the table first, and a single
   * read through it costs less.
   */
  hasIndex: boolean
  /** Reports how many records are to be read, and how many were. */
  progress: { expect(records: number): void; read(records: number): void }
  /** Values that the rules of agents hide are shown. Absent: they are hidden. */
  unredacted?: boolean | undefined
  /** The file of the search index (client/search). Absent: it is in memory. */
  searchFile?: string | undefined
  /** Undefined: this is a log and not a bundle. */
  bundle?: Bundle | undefined
}

/** Empty: the log is older than the topic. */
export async function endsOf(
  { bus, topicPrefix }: { bus: Pick<Bus, 'ends'>; topicPrefix: string },
  topic: TopicName | GuardTopicName,
): Promise<PartitionEnds[]> {
  try {
    return await bus.ends(topicPrefix + topic)
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return []
    throw error
  }
}
