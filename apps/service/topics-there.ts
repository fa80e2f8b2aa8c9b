// Checks that all topics exist with one partition count before a stage starts on Kafka. Only a
// person creates them (`weir topics create`), with the right number of partitions and copies.
// ensureTopics checks their configuration when the stages start.

import type { Logger } from 'pino'
import {
  endsOnceAnswered,
  keepPartitionCount,
  partitionCount,
  patientBus,
} from '../../client/place/open-bus.ts'
import type { FleetMember } from '../../shared/bus/fleet/fleet-members.ts'
import { noneIfMissing } from '../../shared/bus/range.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { otherPartitionCount } from '../../shared/runtime/log/partition-count.ts'

export type TopicsThereOptions = {
  bus: Pick<Bus, 'ends' | 'clock' | 'list' | 'read' | 'append' | 'topicId'>
  topicPrefix: string
  /** The number that a person set. Undefined: nobody did, and the topics give it. */
  setPartitions: number | undefined
  members?: () => Promise<readonly FleetMember[]>
  log: Logger
}

/**
 * The partitions of the topics. Stores the number if the log has none yet. Throws
 * `bus.topic-missing` with the name of each missing topic, and `bus.topic-differs` if the topics do
 * not all have the stored and the set number.
 */
export async function topicsThere({
  bus,
  topicPrefix,
  setPartitions,
  members,
  log,
}: TopicsThereOptions): Promise<number> {
  const patient = patientBus(bus, log)
  const partitions = await partitionCount(patient, topicPrefix)
  const missing: string[] = []
  for (const { name } of topicSpecs(topicPrefix, partitions)) {
    const count = await countOf(patient, name)
    if (count === 0) missing.push(name)
    else if (count !== partitions) throw otherPartitionCount(name, count, partitions)
  }
  if (missing.length > 0)
    throw new WeirError(
      'bus.topic-missing',
      `topics are missing: ${missing.join(', ')}. Create them: weir topics create`,
    )
  if (setPartitions !== undefined && setPartitions !== partitions)
    throw new WeirError(
      'bus.topic-differs',
      `partitions is set to ${setPartitions} (--partitions, WEIR_PARTITIONS), and the topics that begin with ${topicPrefix} have ${partitions}: leave the setting out, or set ${partitions}`,
    )
  await keepPartitionCount({ bus, topicPrefix, partitions, members, log })
  return partitions
}

/** 0: there is no such topic. */
async function countOf(bus: Pick<Bus, 'ends' | 'clock'>, topic: string): Promise<number> {
  return (await endsOnceAnswered(bus, topic).catch(noneIfMissing)).length
}
