// The bus that the settings name. Kafka's client is loaded only where it is used: it costs a start
// a tenth of a second.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openBesideOwner } from '../shared/bus/embedded/beside.ts'
import { type EmbeddedBusOptions, openEmbeddedBus } from '../shared/bus/embedded/bus.ts'
import { answerOf } from '../shared/bus/embedded/outside-requests.ts'
import { listenForRequests, ownerListens } from '../shared/bus/embedded/owner-socket.ts'
import type { ClientConfig } from '../shared/bus/kafka/client-properties.ts'
import type { Bus, PartitionEnds } from '../shared/contract/bus.ts'
import { type Milliseconds, systemClock } from '../shared/lib/clock.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { pause } from '../shared/lib/pause.ts'
import { foldFrom } from '../shared/runtime/position.ts'
import type { Settings } from '../shared/settings/settings.ts'

export type BusSettings = Pick<
  Settings,
  'bus' | 'dataFolder' | 'synchronous' | 'bootstrapServer' | 'commandConfig' | 'commandProperty'
>

export type OpenOptions = {
  /**
   * How long a broker is looked for. Default: a minute, as for a service, which may be started
   * before it.
   */
  connectMs?: Milliseconds
  /** Of topics that are created through it; default: as the brokers say. */
  replicationFactor?: number
  /** False: copies of tables are not worth a file. */
  keepsTables?: boolean
}

/**
 * Opens it for writing. Errors: `bus.locked` (the data folder is in use) and others that name the
 * file; on Kafka `settings.invalid` (every mistake of the client's properties), and what keeps the
 * brokers from answering.
 */
export async function openBus(
  settings: BusSettings,
  log: Logger,
  { connectMs, replicationFactor, keepsTables = true }: OpenOptions = {},
): Promise<Bus> {
  const { bus, dataFolder, synchronous } = settings
  switch (bus) {
    case 'embedded':
      return openOwned({
        file: logFileIn(dataFolder),
        clock: systemClock,
        synchronous,
        keepFrom: foldFrom,
        log,
      })
    case 'kafka': {
      const { openKafkaBus } = await import('../shared/bus/kafka/bus.ts')
      const client = await kafkaClient(settings, (note) => log.info(note))
      return openKafkaBus({
        client,
        clock: systemClock,
        log,
        tablesFolder: keepsTables ? join(dataFolder, 'tables') : undefined,
        connectMs,
        replicationFactor,
      })
    }
    default:
      return bus satisfies never
  }
}

/**
 * How often, and how far apart, a process that is not there yet, or not any more, is looked for.
 */
const ownerTriesMax = 20
const ownerTryMs = 100

/**
 * As openBus, for whoever writes what an outsider may (shared/bus/embedded/outside-requests.ts) and
 * needs nobody to stop for it: where another process writes the data folder, that one is asked to
 * write. Errors as there; `bus.locked` where that process takes no requests, `bus.unreachable`
 * where it is another user's.
 */
export async function openBusBeside(
  settings: BusSettings & Pick<Settings, 'topicPrefix'>,
  log: Logger,
  options?: OpenOptions,
): Promise<Bus> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openBus(settings, log, options)
    } catch (error) {
      if (!(error instanceof WeirError && error.code === 'bus.locked')) throw error
      const beside = await openBesideWriter(settings, log)
      if (beside !== undefined)
        return inItsPlaceLater(beside, () => openBusBeside(settings, log, options))
      if (tries === ownerTriesMax) throw error
      await sleep(ownerTryMs) // it is just starting, or just ending
    }
  }
}

/**
 * The one that is asked may be a command as short as this one, and gone when there is something to
 * write. Then the file is opened again, as its owner or beside the next one. Not where that one may
 * have written it before it ended: that is for whoever asked to look at.
 */
function inItsPlaceLater(beside: Bus, openAgain: () => Promise<Bus>): Bus {
  let asked = beside
  async function byWhoeverIsThere<T>(work: (bus: Bus) => Promise<T>): Promise<T> {
    try {
      return await work(asked)
    } catch (error) {
      if (asked !== beside || !wasNeverAsked(error)) throw error // what was opened again has this patience itself
      asked = await openAgain()
      return work(asked)
    }
  }
  return {
    ...beside,
    append: (records, how) => byWhoeverIsThere((bus) => bus.append(records, how)),
    ensureTopics: (specs) => byWhoeverIsThere((bus) => bus.ensureTopics(specs)),
    async close() {
      if (asked !== beside) await asked.close()
      await beside.close()
    },
  }
}

/** It came to no connection, so nothing was written (owner-socket.ts). */
function wasNeverAsked(error: unknown): boolean {
  return (
    error instanceof WeirError &&
    error.code === 'bus.unreachable' &&
    error.retryable &&
    error.cause !== undefined
  )
}

/** The embedded bus beside the process that writes it. Undefined: none takes requests. */
export async function openBesideWriter(
  { dataFolder, topicPrefix }: Pick<Settings, 'dataFolder' | 'topicPrefix'>,
  log: Logger,
): Promise<Bus | undefined> {
  return openBesideOwner({ file: logFileIn(dataFolder), clock: systemClock, topicPrefix, log })
}

/**
 * Whether a process writes the data folder and takes requests. Throws `bus.unreachable` where it is
 * another user's.
 */
export function writerListens({ dataFolder }: Pick<Settings, 'dataFolder'>): Promise<boolean> {
  return ownerListens(logFileIn(dataFolder))
}

/**
 * Whoever has the lock also takes requests. Where it cannot listen it is no worse off than before.
 */
async function openOwned(options: EmbeddedBusOptions & { log: Logger }): Promise<Bus> {
  const bus = await openEmbeddedBus(options)
  const { file, clock, log } = options
  const socket = await listenForRequests({
    file,
    clock,
    log,
    answer: (request) => answerOf(bus, request),
  }).catch((error: unknown) => {
    log.info(
      { err: error, file },
      'requests of other processes cannot be taken: weir guard mode, for one, has to wait until this one ends',
    )
    return undefined
  })
  return {
    ...bus,
    async close() {
      try {
        await socket?.close()
      } finally {
        await bus.close()
      }
    },
  }
}

/** The file of the embedded bus in a data folder. */
export function logFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.db')
}

/**
 * What the settings say of Kafka's client. `onLeftAside`: gets a sentence for each property that is
 * of no use here. Throws `settings.invalid`.
 */
export async function kafkaClient(
  settings: BusSettings,
  onLeftAside: (note: string) => void = () => {},
): Promise<ClientConfig> {
  const { bootstrapServer, commandConfig, commandProperty } = settings
  const { readClientProperties } = await import('../shared/bus/kafka/client-properties.ts')
  return readClientProperties({
    file: commandConfig === '' ? undefined : commandConfig,
    overrides: commandProperty,
    bootstrapServer: bootstrapServer === '' ? undefined : bootstrapServer,
    onIgnored: onLeftAside,
  })
}

/** As long as the first contact is tried (`KafkaBusOptions.connectMs`). */
const answerMs = 60_000
const betweenMs = 500

/**
 * The ends of a topic, also of a broker that has just started and leads nothing yet, or goes away
 * in between: a service must not end of that.
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

/**
 * Partitions that the topics have, whatever the settings say. Throws `bus.topic-missing` with what
 * to do.
 */
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
    `there is no topic ${topic}: create Weir's topics (weir topics create), or give the prefix that they have (--topic-prefix, WEIR_TOPIC_PREFIX)`,
  )
}
