// The partition count of a plan: the number that a person set, otherwise the log's own. A default must
// never contradict an existing log.

import { fleetMembers } from '../../../client/place/fleet.ts'
import { endsOnceAnswered, openBus } from '../../../client/place/open-bus.ts'
import { noneIfMissing } from '../../../shared/bus/range.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { storeFormats } from '../../../shared/runtime/fleet/stored-formats.ts'
import {
  otherPartitionCount,
  storedPartitionCount,
  storePartitionCount,
} from '../../../shared/runtime/log/partition-count.ts'
import { keepTopicIds } from '../../../shared/runtime/log/topic-ids.ts'
import type { Settings } from '../../../shared/settings/settings.ts'

/** Short, because a person waits. */
const connectMs = 10_000

/**
 * The settings with the partitions to plan: `setPartitions`, otherwise the stored number, otherwise
 * that of the existing topics, otherwise the default. Throws `bus.topic-differs` if the set number
 * is not the stored one.
 */
export async function withPlannedPartitions(
  settings: Settings,
  setPartitions: number | undefined,
): Promise<Settings> {
  const { topicPrefix } = settings
  return withTopicsBus(settings, async (bus) => {
    const stored = await storedPartitionCount(bus, topicPrefix)
    if (stored !== undefined && setPartitions !== undefined && setPartitions !== stored)
      throw otherPartitionCount('the setting partitions (--partitions)', setPartitions, stored)
    const found = setPartitions ?? stored ?? (await countOf(bus, topicPrefix))
    return { ...settings, partitions: found ?? settings.partitions }
  })
}

/** Keeps the number and the schemas in the log, once its topics fit. */
export async function keepPartitions(settings: Settings): Promise<void> {
  const { topicPrefix, partitions } = settings
  await withTopicsBus(settings, async (bus) => {
    const fleet = { bus, settings, log: createLog({ level: 'silent' }) }
    await storePartitionCount(bus, topicPrefix, partitions, () => fleetMembers(fleet))
    await keepTopicIds({ bus, topicPrefix })
    await storeFormats({ bus, topicPrefix })
  })
}

async function countOf(bus: Bus, topicPrefix: string): Promise<number | undefined> {
  const ends = endsOnceAnswered(bus, `${topicPrefix}conversation-events`)
  return (await ends.catch(noneIfMissing)).length || undefined
}

/** Opens the bus for `work` of a topics command, and always closes it. */
export async function withTopicsBus<T>(
  settings: Settings,
  work: (bus: Bus) => Promise<T>,
): Promise<T> {
  const log = createLog({ level: 'silent' })
  const bus = await openBus(settings, log, { connectMs, keepsTables: false })
  try {
    return await work(bus)
  } finally {
    await bus.close()
  }
}
