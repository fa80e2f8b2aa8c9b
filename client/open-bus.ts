// Opens the bus of the settings. The record of each bus is in shared/bus/kinds.ts.

import type { Logger } from 'pino'
import type { BesideSettings, BusSettings, OpenOptions } from '../shared/bus/kind.ts'
import { busKindOf } from '../shared/bus/kinds.ts'
import type { Bus, PartitionEnds } from '../shared/contract/bus.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { pause } from '../shared/lib/pause.ts'
import { protectOwnPath } from '../shared/lib/sandbox/own-paths.ts'
import { foldFrom } from '../shared/runtime/position.ts'

type Options = Omit<OpenOptions, 'log' | 'keepFrom'>

/**
 * Opens the bus for writing. Errors: `bus.locked` (another process writes the data folder) and
 * others that name the file; on Kafka `settings.invalid` (every mistake of the client's properties)
 * and the reason why no broker answers.
 */
export function openBus(settings: BusSettings, log: Logger, options: Options = {}): Promise<Bus> {
  protectOwnPath(settings.dataFolder) // from the tools of this process
  return busKindOf(settings).open(settings, { ...options, log, keepFrom: foldFrom })
}

/** Opens an existing log to read it. Errors as openBus, but never `bus.locked`. */
export function openBusReadOnly(
  settings: BusSettings,
  log: Logger,
  options: Options = {},
): Promise<Bus> {
  return busKindOf(settings).openReadOnly(settings, { ...options, log, keepFrom: foldFrom })
}

/**
 * Opens the bus for a short command while other processes run. If another process writes the data
 * folder, that process writes for this one (shared/bus/embedded/outside-requests.ts). Errors as
 * openBus; `bus.locked` if that process accepts no requests, `bus.unreachable` if it belongs to
 * another user.
 */
export function openBusBeside(
  settings: BesideSettings,
  log: Logger,
  options: Options = {},
): Promise<Bus> {
  return busKindOf(settings).openBeside(settings, { ...options, log, keepFrom: foldFrom })
}

/** As long as the first contact is tried (`KafkaBusOptions.connectMs`). */
const answerMs = 60_000
const betweenMs = 500

/**
 * The ends of a topic. A broker that has just started may lead no partition yet, so a retryable
 * error is retried for a minute.
 */
export async function endsOnceAnswered(
  bus: Pick<Bus, 'ends' | 'clock'>,
  topic: string,
): Promise<PartitionEnds[]> {
  const deadline = bus.clock.monotonic() + answerMs
  for (;;) {
    try {
      return await bus.ends(topic)
    } catch (error) {
      if (!(error instanceof WeirError && error.retryable) || bus.clock.monotonic() >= deadline)
        throw error
      await pause(bus.clock, betweenMs)
    }
  }
}

/** The number of partitions that the topics have. Throws `bus.topic-missing`. */
export async function partitionCount(
  bus: Pick<Bus, 'ends' | 'clock'>,
  topicPrefix: string,
): Promise<number> {
  const topic = `${topicPrefix}conversation-events`
  const count = await endsOnceAnswered(bus, topic).then(
    (ends) => ends.length,
    (error: unknown) => {
      if (error instanceof WeirError && error.code === 'bus.topic-missing') return 0
      throw error
    },
  )
  if (count > 0) return count
  throw new WeirError(
    'bus.topic-missing',
    `there is no topic ${topic}: create Weir's topics (weir topics create), or set their prefix (--topic-prefix, WEIR_TOPIC_PREFIX)`,
  )
}
