// The topics that the configuration in force needs. The topic of a removed guard may be deleted.

import type { Bus } from '../../contract/bus.ts'
import {
  guardKeyPrefix,
  guardTopicName,
  nameWithoutPrefix,
  topics,
} from '../../contract/topology.ts'

/**
 * `always`: Weir's own topic, whose records never return. `while-registered`: the topic of a registered guard,
 * which is new after the guard's return. `none`: the topic of a removed guard.
 */
export type TopicNeed = 'always' | 'while-registered' | 'none'

/** Answers from the last look at `policies`. Each question begins the next look. Default: registered. */
export function createNeededTopics(bus: () => Pick<Bus, 'list'> | undefined, topicPrefix: string) {
  const ofRemovedGuards = new Set<string>()

  return function needOf(topic: string): TopicNeed {
    const guard = nameWithoutPrefix(topic, topicPrefix + guardTopicName(''))
    if (guard === undefined || guardTopicName(guard) in topics) return 'always'
    void look(topic, guardKeyPrefix + guard)
    return ofRemovedGuards.has(topic) ? 'none' : 'while-registered'
  }

  async function look(topic: string, key: string): Promise<void> {
    try {
      const place = { topic: `${topicPrefix}policies`, partition: 0 }
      const registrations = await bus()?.list({ ...place, prefix: key })
      const isRegistered = registrations?.some((record) => record.key === key) !== false
      if (isRegistered) ofRemovedGuards.delete(topic)
      else ofRemovedGuards.add(topic)
    } catch {
      ofRemovedGuards.delete(topic) // without an answer the topic counts as needed
    }
  }
}
