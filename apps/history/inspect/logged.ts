// Records of one conversation as they were read from the log, and how they are picked from it.

import type { Message, MessageOf, MessageType } from '../../../shared/contract/messages.ts'
import type { GuardTopicName, TopicName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

/** `id`: of a derived record. `message` undefined: it could not be decoded. */
export type Logged<M extends Message = Message> = {
  topic: TopicName | GuardTopicName
  offset: number
  time: Milliseconds
  id?: string | undefined
  message: M | undefined
}

export type Readable<T extends MessageType> = {
  topic: TopicName | GuardTopicName
  offset: number
  time: Milliseconds
  message: MessageOf<T>
}

/**
 * In the order of their times, and each derived record once: delivery is at least once, and the
 * first is the one that counted (R3).
 */
export function inOrder(records: readonly Logged[]): Logged[] {
  const seen = new Set<string>()
  const once = records
    .toSorted((a, b) => (a.topic === b.topic ? a.offset - b.offset : a.topic < b.topic ? -1 : 1))
    .filter(({ topic, id }) => {
      if (id === undefined) return true
      const isNew = !seen.has(`${topic}/${id}`)
      seen.add(`${topic}/${id}`)
      return isNew
    })
  return once.toSorted((a, b) => a.time - b.time) // stable: within a topic, and so within a partition, the log's order stays
}

/** All of these types, in the order given. */
export function all<T extends MessageType>(
  records: readonly Logged[],
  ...types: T[]
): Readable<T>[] {
  return records.filter(
    (record): record is Readable<T> =>
      record.message !== undefined && (types as string[]).includes(record.message.type),
  )
}

export function first<T extends MessageType>(
  records: readonly Logged[],
  type: T,
): Readable<T> | undefined {
  return all(records, type)[0]
}
