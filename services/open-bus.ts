// The bus that the settings name. Kafka's client is loaded only where it is used: it costs a start a tenth of a second.

import { join } from 'node:path'
import type { Logger } from 'pino'
import { openEmbeddedBus } from '../shared/bus/embedded/bus.ts'
import type { ClientConfig } from '../shared/bus/kafka/client-properties.ts'
import type { Bus } from '../shared/bus/port.ts'
import type { Milliseconds } from '../shared/clock.ts'
import { systemClock } from '../shared/clock.ts'
import { WeirError } from '../shared/errors.ts'
import { foldFrom } from '../shared/runtime/position.ts'
import type { Settings } from '../shared/settings.ts'

export type BusSettings = Pick<Settings, 'bus' | 'dataFolder' | 'synchronous' | 'bootstrapServer' | 'commandConfig' | 'commandProperty'>

export type OpenOptions = {
  /** How long a broker is looked for. Default: a minute, as for a service, which may be started before it. */
  connectMs?: Milliseconds
  /** False: copies of tables are not worth a file. */
  keepsTables?: boolean
}

/**
 * Opens it for writing. Errors: `bus.locked` (the data folder is in use) and others that name the file; on Kafka `settings.invalid` (every mistake of
 * the client's properties), and what keeps the brokers from answering.
 */
export async function openBus(settings: BusSettings, log: Logger, { connectMs, keepsTables = true }: OpenOptions = {}): Promise<Bus> {
  const { bus, dataFolder, synchronous } = settings
  switch (bus) {
    case 'embedded':
      return openEmbeddedBus({ file: logFileIn(dataFolder), clock: systemClock, synchronous, keepFrom: foldFrom, log })
    case 'kafka': {
      const { openKafkaBus } = await import('../shared/bus/kafka/bus.ts')
      const client = await kafkaClient(settings, (note) => log.info(note))
      return openKafkaBus({
        client,
        clock: systemClock,
        log,
        tablesFolder: keepsTables ? join(dataFolder, 'tables') : undefined,
        connectMs,
      })
    }
    default:
      return bus satisfies never
  }
}

/** The file of the embedded bus in a data folder. */
export function logFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.db')
}

/** What the settings say of Kafka's client. `onLeftAside`: gets a sentence for each property that is of no use here. Throws `settings.invalid`. */
export async function kafkaClient(settings: BusSettings, onLeftAside: (note: string) => void = () => {}): Promise<ClientConfig> {
  const { bootstrapServer, commandConfig, commandProperty } = settings
  const { readClientProperties } = await import('../shared/bus/kafka/client-properties.ts')
  return readClientProperties({
    file: commandConfig === '' ? undefined : commandConfig,
    overrides: commandProperty,
    bootstrapServer: bootstrapServer === '' ? undefined : bootstrapServer,
    onLeftAside,
  })
}

/** Partitions that the topics have, whatever the settings say. Throws `bus.topic-missing` with what to do. */
export async function partitionCount(bus: Pick<Bus, 'ends'>, topicPrefix: string): Promise<number> {
  const topic = `${topicPrefix}conversation-events`
  const count = await bus.ends(topic).then(
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
