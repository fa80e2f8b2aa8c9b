// The ids of the log's topics, kept in the table `policies`. A topic that was deleted and created again
// has no records, and the ids of its writers begin again below the marks of its readers. So every new
// record would count as a repeat.
// The id of a topic is stored once. Weir refuses a topic with another id.

import { topicRecreated } from '../../bus/kafka/failure.ts'
import { decode } from '../../codec/codec.ts'
import type { Bus } from '../../contract/bus.ts'
import { type TopicName, topicIdsKey, topics } from '../../contract/topology.ts'
import { toRecord } from '../record.ts'

type Log = { bus: Pick<Bus, 'list' | 'append' | 'topicId'>; topicPrefix: string }

/**
 * Stores the ids of topics that have none in the log. Throws `bus.topic-recreated` if a topic has another id,
 * and `bus.unauthorized` if this user may not write `policies`.
 */
export async function keepTopicIds({ bus, topicPrefix }: Log): Promise<void> {
  const { topicId } = bus
  if (topicId === undefined) return
  const place = { topic: `${topicPrefix}policies`, partition: 0 }
  const records = await bus.list({ ...place, prefix: topicIdsKey, upToNow: true })
  const stored = idsIn(records.find(({ key }) => key === topicIdsKey)?.value)
  const entries = await Promise.all(
    (Object.keys(topics) as TopicName[]).map(
      async (name) => [name, await topicId(topicPrefix + name)] as const,
    ),
  )
  const recreated = entries.find(
    ([name, id]) => id !== undefined && (stored.get(name) ?? id) !== id,
  )
  if (recreated !== undefined) throw topicRecreated(topicPrefix + recreated[0])
  const added = entries.flatMap(([name, id]): [string, string][] =>
    id === undefined || stored.has(name) ? [] : [[name, id]],
  )
  if (added.length === 0) return
  const ids = [...stored, ...added].map(([topic, id]) => ({ topic, id }))
  await bus.append([toRecord({ ...place, message: { type: 'topic-ids', ids } })])
}

/** Empty: the log has none, or the record is another one. */
function idsIn(value: Uint8Array | null | undefined): Map<string, string> {
  const message = value == null ? undefined : decode(value)
  return new Map(
    message?.type === 'topic-ids' ? message.ids.map(({ topic, id }) => [topic, id]) : [],
  )
}
