// The log of a Weir, open for looking at it: beside the processes that write it, or when none does;
// or a bundle of it. Changes nothing.

import { existsSync } from 'node:fs'
import { openBusReadOnly, partitionCount } from '../../client/open-bus.ts'
import { type Bundle, openBundle } from '../../shared/bus/bundle/bus.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus, PartitionEnds } from '../../shared/contract/bus.ts'
import type { GuardTopicName, TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { createProgress, type Progress } from '../terminal/progress.ts'

export type OpenLog = {
  bus: Bus
  topicPrefix: string
  /** Those that the topics have, whatever the settings say. */
  partitions: number
  /**
   * The tables of the bus can be asked by key at once. Else it would copy them first, and reading
   * them through once is less.
   */
  hasIndex: boolean
  progress: Progress
  /** Of a log on this machine. */
  logFile?: string | undefined
  /** Undefined: it is a log, not a bundle of one. */
  bundle?: Bundle | undefined
}

/**
 * `bundle`: a file of `weir export` to look at, in the place of the log that the settings name.
 * `signal`: once it aborts, opening that throws.
 */
export type LogOptions = { bundle?: string | undefined; signal?: AbortSignal }

/**
 * Opens the log for `look`, and closes it whatever happens. Errors: `bus.not-a-database` where
 * there is none in the data folder, `bus.topic-missing` where its topics have another prefix; and
 * those of opening a file (shared/bus/embedded/schema.ts, shared/bus/bundle/open.ts), or of Kafka's
 * client.
 */
export async function withLog<T>(
  settings: Settings,
  look: (log: OpenLog) => Promise<T>,
  { bundle, signal }: LogOptions = {},
): Promise<T> {
  if (bundle !== undefined) return withBundle(bundle, look, signal)
  const { topicPrefix } = settings
  const kind = busKindOf(settings)
  assertLogExists(settings)
  const bus = await openBusReadOnly(settings, createLog({ level: settings.logLevel }), {
    connectMs,
    keepsTables: false,
  })
  const progress = createProgress(process.stderr, systemClock, process.env)
  try {
    const partitions = await partitionsIn(bus, settings)
    const logFile = kind.isLocal ? kind.logFile(settings) : undefined
    return await look({
      bus,
      topicPrefix,
      partitions,
      hasIndex: logFile !== undefined,
      progress,
      logFile,
    })
  } finally {
    progress.end()
    await bus.close()
  }
}

/** As withLog, of a bundle. */
export async function withBundle<T>(
  file: string,
  look: (log: OpenLog) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const checking = createProgress(process.stderr, systemClock, process.env, checkingBundle)
  const bundle = await openBundle(file, systemClock, { checking, signal }).finally(checking.end)
  const { bus, facts } = bundle
  const progress = createProgress(process.stderr, systemClock, process.env)
  try {
    return await look({
      bus,
      topicPrefix: facts.topicPrefix,
      partitions: facts.partitions,
      hasIndex: true,
      progress,
      bundle,
    })
  } finally {
    progress.end()
    await bus.close()
  }
}

const checkingBundle = { doing: 'checking the bundle', what: 'byte' }

/** Somebody waits for it. */
const connectMs = 10_000

/** Throws `bus.not-a-database` if the log is a file of this machine and does not exist. */
export function assertLogExists(settings: Settings): void {
  const kind = busKindOf(settings)
  const file = kind.isLocal ? kind.logFile(settings) : undefined
  if (file === undefined || existsSync(file)) return
  throw new WeirError(
    'bus.not-a-database',
    `there is no log at ${file}: name the folder of a Weir that has run (--data-folder, WEIR_DATA_FOLDER)`,
  )
}

async function partitionsIn(bus: Bus, settings: Settings): Promise<number> {
  const { topicPrefix } = settings
  const kind = busKindOf(settings)
  if (!kind.ownsTopics) return partitionCount(bus, topicPrefix)
  const { length } = await endsOf({ bus, topicPrefix }, 'conversation-events')
  if (length > 0) return length
  throw new WeirError(
    'bus.topic-missing',
    `${kind.isLocal ? kind.logFile(settings) : kind.title} has no topics that begin with '${topicPrefix}': give the prefix that was set when it was written (--topic-prefix, WEIR_TOPIC_PREFIX)`,
  )
}

/** None where the log is older than the topic. */
export async function endsOf(
  { bus, topicPrefix }: { bus: Pick<Bus, 'ends'>; topicPrefix: string },
  topic: TopicName | GuardTopicName,
): Promise<PartitionEnds[]> {
  try {
    return await bus.ends(topicPrefix + topic)
  } catch (error) {
    if (error instanceof WeirError && error.code === 'bus.topic-missing') return []
    throw error
  }
}
