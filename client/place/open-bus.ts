// Opens the bus of the settings. The record of each bus is in shared/bus/kinds.ts.

import type { Logger } from 'pino'
import type { FleetMember } from '../../shared/bus/fleet/fleet-members.ts'
import type { BesideSettings, BusSettings, OpenOptions } from '../../shared/bus/kind.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { onceAnswered } from '../../shared/bus/once-answered.ts'
import type { Bus, PartitionEnds } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { claimFolder } from '../../shared/lib/files/folder-owner.ts'
import { pause } from '../../shared/lib/pause.ts'
import { protectOwnPath } from '../../shared/lib/sandbox/own-paths.ts'
import {
  assertPartitionCount,
  storedPartitionCount,
  storePartitionCount,
} from '../../shared/runtime/log/partition-count.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import { keepTopicIds } from '../../shared/runtime/log/topic-ids.ts'
import { ownerLeaves } from './stage-host.ts'

type Options = Omit<OpenOptions, 'log' | 'keepFrom'>

/**
 * Opens the bus for writing. Errors: `bus.locked` (another process writes the data folder) and
 * others that name the file, `folder.foreign`. On Kafka `settings.invalid` (every mistake of the client's properties)
 * and the reason why no broker answers.
 */
export async function openBus(
  settings: BusSettings,
  log: Logger,
  options: Options = {},
): Promise<Bus> {
  // From the tools of this process.
  const { dataFolder, commandConfig, recordSigning, encryptionKeys } = settings
  for (const path of [dataFolder, commandConfig, recordSigning, encryptionKeys])
    if (path !== '') protectOwnPath(path)
  claimFolder(dataFolder)
  return busKindOf(settings).open(settings, { ...options, log, keepFrom: foldFrom })
}

/**
 * Opens the bus for a process that runs stages. Throws also `bus.imported` if the log was made from
 * a bundle and `runImported` is not true: its records could make this process call tools.
 */
export async function openBusForStages(
  settings: BusSettings,
  log: Logger,
  { runImported = false, ...options }: Options & { runImported?: boolean | undefined } = {},
): Promise<Bus> {
  const bus = await openBus(settings, log, options)
  if (bus.isImported !== true || runImported) return bus
  await bus.close()
  throw new WeirError(
    'bus.imported',
    `the log in ${settings.dataFolder} was made from a bundle (weir import), so its policies, rules and history are those of the bundle's writer. Read it with weir inspect, replay or report. If you trust the bundle, allow it with --run-imported (in a program: runImported)`,
  )
}

/**
 * As openBusForStages, but waits while another process has the log to itself. A process that only
 * guards agents leaves it. `waits`: called once,
 * with the error that names that process. Undefined: `signal` aborted first.
 */
export async function openBusOnceFree(
  settings: BusSettings,
  log: Logger,
  {
    waits,
    signal,
    ...options
  }: Parameters<typeof openBusForStages>[2] & {
    waits: (error: WeirError) => void
    signal: AbortSignal
  },
): Promise<Bus | undefined> {
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      return await openBusForStages(settings, log, options)
    } catch (error) {
      if (!(error instanceof WeirError && error.code === 'bus.locked')) throw error
      if (isFirst) waits(error)
      const kind = busKindOf(settings)
      if (kind.isLocal) await ownerLeaves(kind, settings).catch(() => false)
    }
    await pause(systemClock, limits.ownerTriedAgainMs, signal)
  }
  return undefined
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
 * folder, that process writes for this one (shared/bus/embedded/next to/outside-requests.ts). Errors as
 * openBus; `bus.locked` if that process accepts no requests, `bus.unreachable` if it belongs to
 * another user.
 */
export async function openBusBeside(
  settings: BesideSettings,
  log: Logger,
  options: Options = {},
): Promise<Bus> {
  claimFolder(settings.dataFolder)
  return busKindOf(settings).openBeside(settings, { ...options, log, keepFrom: foldFrom })
}

/** The ends of a topic. A broker that has just started may lead no partition yet. */
export function endsOnceAnswered(
  bus: Pick<Bus, 'ends' | 'clock'>,
  topic: string,
): Promise<PartitionEnds[]> {
  return onceAnswered(bus, () => bus.ends(topic))
}

const patientRequests = ['append', 'ends', 'list', 'read', 'topicId'] as const

/**
 * The bus of a process with stages while it starts: each request waits for a broker, as the requests of a
 * running process do. `log`: gets the warnings of onceAnswered.
 */
export function patientBus<Part extends Partial<Bus> & Pick<Bus, 'clock'>>(
  bus: Part,
  log: Logger,
): Part {
  const patient = Object.create(bus)
  for (const name of patientRequests)
    if (bus[name] !== undefined)
      patient[name] = (...asked: unknown[]) =>
        onceAnswered(bus, () => Reflect.apply(bus[name] as () => Promise<unknown>, bus, asked), log)
  return patient
}

/**
 * The number of partitions that the topics have. Throws `bus.topic-missing`, and `bus.topic-differs`
 * if the log was made with another number (shared/runtime/log/partition-count.ts). `name`: a topic that
 * this process may describe.
 */
export async function partitionCount(
  bus: Pick<Bus, 'ends' | 'clock' | 'list'>,
  topicPrefix: string,
  name: TopicName = 'conversation-events',
): Promise<number> {
  const topic = topicPrefix + name
  const count = await endsOnceAnswered(bus, topic).then(
    (ends) => ends.length,
    (error: unknown) => {
      if (error instanceof WeirError && error.code === 'bus.topic-missing') return 0
      throw error
    },
  )
  if (count > 0) {
    const stored = await onceAnswered(bus, () => storedPartitionCount(bus, topicPrefix))
    assertPartitionCount(topic, count, stored)
    return count
  }
  throw new WeirError(
    'bus.topic-missing',
    `there is no topic ${topic}: create Weir's topics (weir topics create), or set their prefix (--topic-prefix, WEIR_TOPIC_PREFIX)`,
  )
}

/**
 * Keeps the number in a log that has none. A user with least rights may not write `policies`: then
 * an operator stores the number. Throws as storePartitionCount otherwise.
 */
export async function keepPartitionCount({
  bus,
  topicPrefix,
  partitions,
  members,
  log,
}: {
  bus: Pick<Bus, 'list' | 'ends' | 'read' | 'append' | 'clock' | 'topicId'>
  topicPrefix: string
  partitions: number
  members?: (() => Promise<readonly FleetMember[]>) | undefined
  log: Logger
}): Promise<void> {
  const patient = patientBus(bus, log)
  try {
    if (await storePartitionCount(patient, topicPrefix, partitions, members))
      log.info({ partitions }, 'the partition count is now kept in the log')
    await keepTopicIds({ bus: patient, topicPrefix })
  } catch (error) {
    if (!(error instanceof WeirError) || error.code !== 'bus.unauthorized') throw error
    log.warn(
      { partitions, reason: error.message },
      'the partition count could not be kept in the log: run weir topics create as a user who may write policies',
    )
  }
}
