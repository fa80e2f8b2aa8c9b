// The log of a Weir, open for reading: beside the process that writes it, or when none does. For commands that look and change nothing.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Bus, PartitionEnds } from '../../shared/bus/port.ts'
import { systemClock } from '../../shared/clock.ts'
import { WeirError } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { TopicName } from '../../shared/topology.ts'

/** `partitions`: those that the topics have, whatever the settings say. */
export type OpenLog = { bus: Bus; topicPrefix: string; partitions: number }

/** The file of the embedded bus in a data folder. */
export function logFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.db')
}

/**
 * Opens the log for `look`, and closes it whatever happens. Errors: `bus.not-a-database` where there is none in the data folder,
 * `bus.topic-missing` where its topics have another prefix;
 * and those of opening a file (shared/bus/embedded/schema.ts).
 */
export async function withLog<T>({ dataFolder, topicPrefix }: Settings, look: (log: OpenLog) => Promise<T>): Promise<T> {
  const file = logFileIn(dataFolder)
  if (!existsSync(file))
    throw new WeirError(
      'bus.not-a-database',
      `there is no log at ${file}: name the folder of a Weir that has run (--data-folder, WEIR_DATA_FOLDER)`,
    )
  const bus = await openEmbeddedBus({ file, clock: systemClock, readOnly: true })
  try {
    const { length: partitions } = await endsOf({ bus, topicPrefix, partitions: 0 }, 'conversation-events')
    if (partitions === 0)
      throw new WeirError(
        'bus.topic-missing',
        `${file} has no topics that begin with '${topicPrefix}': give the prefix that was set when it was written (--topic-prefix, WEIR_TOPIC_PREFIX)`,
      )
    return await look({ bus, topicPrefix, partitions })
  } finally {
    await bus.close()
  }
}

/** None where the file is older than the topic. */
export async function endsOf({ bus, topicPrefix }: OpenLog, topic: TopicName): Promise<PartitionEnds[]> {
  try {
    return await bus.ends(topicPrefix + topic)
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return []
    throw error
  }
}
