// Opens a log for reading: next to the processes that write it, after they ended, or from a bundle.
// Changes nothing of it.

import { existsSync } from 'node:fs'
import { endsOf, type ReadableLog } from '../../client/history/readable-log.ts'
import { closedOnFailure } from '../../client/place/closed-on-failure.ts'
import { openBusReadOnly, partitionCount } from '../../client/place/open-bus.ts'
import { searchFileOf } from '../../client/search/index-file.ts'
import { openBundle } from '../../shared/bus/bundle/bus.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { createProgress, type Progress } from '../terminal/progress.ts'
import { endWithout } from '../terminal/text/ending.ts'
import { hiddenText, isGone } from './hidden-text.ts'

export type OpenLog = ReadableLog & {
  progress: Progress
  /** The file of a log on this machine. */
  logFile?: string | undefined
}

/**
 * `bundle`: a file of `weir export` to read instead of the log that the settings name. `signal`:
 * once it aborts, opening the bundle throws. `unredacted`: see ReadableLog. `conversation`: the only
 * one whose missing keys matter to the reader.
 */
export type LogOptions = {
  bundle?: string | undefined
  signal?: AbortSignal
  unredacted?: boolean | undefined
  conversation?: string | undefined
}

/**
 * Opens the log for `read` and always closes it. Throws `bus.not-a-database` if the data folder has
 * no log, and `bus.topic-missing` if its topics have another prefix. Throws also the errors of
 * opening a file (shared/bus/embedded/file/schema.ts, shared/bus/bundle/open.ts) or of Kafka's client.
 */
export async function withLog<T>(
  settings: Settings,
  read: (log: OpenLog) => Promise<T>,
  { bundle, signal, unredacted, conversation }: LogOptions = {},
): Promise<T> {
  if (bundle !== undefined) return withBundle(bundle, (log) => read({ ...log, unredacted }), signal)
  const log = await openLog(settings, createProgress(process.stderr, systemClock, process.env))
  try {
    return await read({ ...log, unredacted })
  } finally {
    log.progress.end()
    reportHidden(log.bus, conversation)
    await log.bus.close()
  }
}

/** Records whose key was deleted are no failure: nobody can get them. */
function reportHidden(bus: Bus, conversation: string | undefined): void {
  const tenant = conversation === undefined ? undefined : tenantOf(conversation)
  for (const group of bus.hidden?.() ?? []) {
    if (tenant !== undefined && group.tenant !== tenant) continue
    endWithout(hiddenText(group), { isFailure: !isGone(group) })
  }
}

/** As withLog. The caller closes the bus. `progress`: default: none. */
export async function openLog(settings: Settings, progress = silentProgress): Promise<OpenLog> {
  const { topicPrefix } = settings
  const kind = busKindOf(settings)
  assertLogExists(settings)
  const bus = await openBusReadOnly(settings, createLog({ level: settings.logLevel }), {
    connectMs,
    keepsTables: false,
  })
  const partitions = await closedOnFailure(bus, () => partitionsIn(bus, settings))
  const logFile = kind.isLocal ? kind.logFile(settings) : undefined
  const searchFile = searchFileOf(settings)
  const hasIndex = logFile !== undefined
  return { bus, topicPrefix, partitions, hasIndex, progress, logFile, searchFile }
}

export const silentProgress: Progress = { expect() {}, read() {}, end() {} }

/** As withLog, for a bundle. */
export async function withBundle<T>(
  file: string,
  read: (log: OpenLog) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const checking = createProgress(process.stderr, systemClock, process.env, checkingBundle)
  const bundle = await openBundle(file, systemClock, { checking, signal }).finally(checking.end)
  const { bus, facts } = bundle
  const progress = createProgress(process.stderr, systemClock, process.env)
  try {
    return await read({
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

/** Short, because a person waits. */
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
    `${kind.isLocal ? kind.logFile(settings) : kind.title} has no topics with the prefix '${topicPrefix}': give the prefix of the writing Weir (--topic-prefix, WEIR_TOPIC_PREFIX)`,
  )
}
