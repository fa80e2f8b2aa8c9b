// Records of one conversation, as read from the log.

import type { Message } from '../contract/messages.ts'
import type { GuardTopicName, TopicName } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** `id`: only derived records have one. `message`: undefined if it could not be decoded. */
export type Logged<M extends Message = Message> = {
  topic: TopicName | GuardTopicName
  offset: number
  time: Milliseconds
  id?: string | undefined
  message: M | undefined
}

/**
 * Sorts by time and keeps each derived record once. Delivery is at least once, and the first
 * record is the one that counted (R3).
 */
export function inOrder(records: readonly Logged[]): Logged[] {
  const seen = new Set<string>()
  const once = records
    .toSorted((a, b) => {
      if (a.topic === b.topic) return a.offset - b.offset
      return a.topic < b.topic ? -1 : 1
    })
    .filter(({ topic, id }) => {
      if (id === undefined) return true
      const isNew = !seen.has(`${topic}/${id}`)
      seen.add(`${topic}/${id}`)
      return isNew
    })
  // Stable: the order of the log stays within a topic, and so within a partition.
  return once.toSorted((a, b) => a.time - b.time)
}
