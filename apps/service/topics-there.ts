// Before a stage starts on Kafka, all topics must be there: only a person creates them (`weir
// topics create`), who knows how many partitions and copies they should have. Whether they are as
// they must be is judged when the stages start (ensureTopics).

import { endsOnceAnswered, partitionCount } from '../../client/open-bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { topicSpecs } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'

/**
 * How many partitions they have. Throws `bus.topic-missing` with the name of each that is missing.
 */
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
    `topics are missing: ${missing.join(', ')}. To do: weir topics create`,
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
