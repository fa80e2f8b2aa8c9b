// Checks that all topics exist before a stage starts on Kafka. Only a person creates them (`weir
// topics create`), with the right number of partitions and copies. ensureTopics checks their
// configuration when the stages start.

import { endsOnceAnswered, partitionCount } from '../../client/open-bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { topicSpecs } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'

/** The partitions of the topics. Throws `bus.topic-missing` with the name of each missing topic. */
export async function topicsThere(
  bus: Pick<Bus, 'ends' | 'clock'>,
  topicPrefix: string,
): Promise<number> {
  const partitions = await partitionCount(bus, topicPrefix)
  const missing: string[] = []
  for (const { name } of topicSpecs(topicPrefix, partitions))
    if (!(await isThere(bus, name))) missing.push(name)
  if (missing.length === 0) return partitions
  throw new WeirError(
    'bus.topic-missing',
    `topics are missing: ${missing.join(', ')}. Create them: weir topics create`,
  )
}

async function isThere(bus: Pick<Bus, 'ends' | 'clock'>, topic: string): Promise<boolean> {
  try {
    await endsOnceAnswered(bus, topic)
    return true
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return false
    throw error
  }
}
