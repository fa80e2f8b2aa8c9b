// The embedded bus: one process, one SQLite file, no broker. It keeps every promise of
// shared/contract/bus.ts; test/shared/bus/contract.ts checks them.
//
//   append ─▶ queue (writer.ts) ─▶ one transaction ─▶ append's promise, followers, waiting get
//   (changes.ts, reading.ts)
//                                    (log.ts)       └▶ batches of readers (subscriptions.ts) ─▶ steps ─┐
//                                                        ▲                                             ├─▶ one transaction ─▶ acknowledged(), followers
//                                                        └─────────────────────────────────────────────┘
//
// All appends of one turn of the event loop, or of a few busy ones (ticks.ts), are one transaction.
// All outputs of the readers that follow are a second one. It is kinder than Kafka in three ways.
// Outputs and commit of a step share a transaction, so a crash repeats no output. A group has one
// owner while the process lives. There is one writer.

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Bus, Commit, Offset } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { Clock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { createChanges } from './changes.ts'
import { type FileLock, lockFile } from './file/lock.ts'
import { checkBeforeWriting, makeFolder, type Synchronous } from './file/open-file.ts'
import { createSubscriptions } from './group/subscriptions.ts'
import { startKeyIndexing } from './log/key-blocks.ts'
import { type Log, openLog, type TestedDatabase } from './log/log.ts'
import { startRetention } from './log/retention.ts'
import { createReading } from './reading.ts'
import { createTicks } from './ticks.ts'
import { watchLog } from './watch.ts'
import { createWriter } from './writer.ts'

const queueBytesMaxDefault = 256 * 1024 * 1024
const writeTriesMaxDefault = 5

export type EmbeddedBusOptions = {
  /** The SQLite file; its folder is created. `:memory:`: no file. */
  file: string
  clock: Clock
  /** How much a power failure may destroy: see Synchronous. Default `normal`. */
  synchronous?: Synchronous | undefined
  /**
   * Reads a file next to its writer, or one without a writer. Needs no lock; append and subscribe
   * throw.
   */
  readOnly?: boolean | undefined
  /** Bytes of one value. Default limits.recordBytesMax. */
  recordBytesMax?: number | undefined
  /** Bytes of the log at which no new turn may begin. Default 0: no limit. */
  bytesMax?: number | undefined
  /**
   * Bytes that may wait to be written before append refuses with a retryable `bus.full`. Default
   * 256 MiB.
   */
  queueBytesMax?: number | undefined
  /**
   * How often the write of a step is tried, 200 ms, 400 ms, 800 ms ... apart, before its
   * subscription fails. Default 5: about 3 seconds.
   */
  writeTriesMax?: number | undefined
  /**
   * The lowest offset that a group with this commit reads again after a restart; retention leaves
   * it alone. Default: the commit's offset.
   */
  keepFrom?: ((commit: Commit) => Offset) | undefined
  /** Gets failures that no caller sees. pino fits. */
  log?:
    | { warn(fields: object, message: string): void; fatal(fields: object, message: string): void }
    | undefined
  /** For tests of a full disk: gets the open database. */
  onDatabase?: ((database: TestedDatabase) => void) | undefined
}

/**
 * Opens the bus; creates the file if it is missing. Errors: `bus.locked` (another process or bus
 * writes this file), `bus.not-a-database`, `bus.newer-version`, `bus.unwritable`, `bus.full`. Each
 * names the file and the remedy.
 */
export async function openEmbeddedBus(options: EmbeddedBusOptions): Promise<Bus> {
  if (options.readOnly === true) return openReader(options)
  const { clock } = options
  const { log, lock } = openLocked(options)

  let life: 'open' | 'closing' | 'closed' = 'open'
  let closing: Promise<void> | undefined
  const keepFrom = options.keepFrom ?? ((commit) => commit.offset)
  const changes = createChanges()
  const wake = createTicks(() => writer.waiting(), tick)
  const writer = createWriter({
    log,
    clock,
    recordBytesMax: options.recordBytesMax ?? limits.recordBytesMax,
    queueBytesMax: options.queueBytesMax ?? queueBytesMaxDefault,
    triesMax: options.writeTriesMax ?? writeTriesMaxDefault,
    wake,
    staged: (partition) => subscriptions.grown(partition),
    grown(partition) {
      changes.changed(partition)
      subscriptions.grown(partition)
    },
    failedForGood(error) {
      subscriptions.failStepping(error)
      changes.allChanged()
    },
    retrying: (error, waitMs) =>
      options.log?.warn({ err: error, waitMs }, 'writing the log failed; will retry'),
  })
  const subscriptions = createSubscriptions({
    log,
    writer,
    wake,
    flush,
    keepFrom,
    assertOpen: () => assertOpen('open'),
    failed: ({ group, topic }, error) =>
      options.log?.fatal(
        { err: error, group, topic },
        'a subscription failed and reads no more records',
      ),
  })
  const indexing = startKeyIndexing(log.extendIndex, clock, (error) =>
    options.log?.warn({ err: error }, 'indexing older records failed; the next start will go on'),
  )
  const retention = startRetention({
    log,
    clock,
    subscriptions,
    keepFrom,
    failed: (error) =>
      options.log?.warn({ err: error }, 'deleting old records failed; will retry in an hour'),
  })

  function tick(): void {
    writer.flushAppends()
    subscriptions.pump()
  }

  function flush(): void {
    writer.flushSteps()
    writer.flushAppends() // those that waited for a step
  }

  /** Closing readers may still append; for them `closing` is open enough. */
  function assertOpen(least: 'open' | 'closing'): void {
    if (life === 'closed' || (life === 'closing' && least === 'open')) throw closed(log.file)
  }

  async function close(): Promise<void> {
    life = 'closing'
    indexing.stop()
    await retention.stop()
    const readersClosed = await subscriptions.closeAll().then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    await writer.drained()
    life = 'closed'
    changes.allChanged()
    try {
      log.close()
    } finally {
      lock?.release()
    }
    if (readersClosed !== undefined) throw readersClosed.error
  }

  return {
    clock,
    provesFormerOwnersDead: true,
    appendsWhole: true,
    isImported: log.isImported,
    space: () => ({ bytes: log.usedBytes(), bytesMax: options.bytesMax ?? 0 }),
    recordBytesMax: options.recordBytesMax ?? limits.recordBytesMax,
    ...createReading({ log, clock, changes, assertOpen: () => assertOpen('closing') }),

    async ensureTopics(topics) {
      assertOpen('open')
      log.ensureTopics(topics)
    },

    endAhead: (place) => log.endAhead(place),

    async erase(erasure) {
      assertOpen('open')
      flush()
      const erased = log.erase(erasure)
      changes.allChanged()
      return erased
    },

    async append(records, options) {
      assertOpen('closing')
      return writer.append(records, options)
    },

    async subscribe(subscribeOptions) {
      assertOpen('open')
      return subscriptions.subscribe(subscribeOptions)
    },

    close() {
      closing ??= close()
      return closing
    },
  }
}

/**
 * Takes the lock first. Changes nothing in a file before it is known to be a Weir log.
 */
function openLocked({ file, clock, synchronous = 'normal', onDatabase }: EmbeddedBusOptions): {
  log: Log
  lock: FileLock | undefined
} {
  if (file === ':memory:')
    return {
      log: openLog({ file, clock, readOnly: false, synchronous, onDatabase }),
      lock: undefined,
    }
  makeFolder(file)
  const real = realFile(file)
  checkBeforeWriting(real)
  const lock = lockFile(real)
  try {
    return { log: openLog({ file: real, clock, readOnly: false, synchronous, onDatabase }), lock }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** One name for one file, also after links: the lock goes by the name. */
function realFile(file: string): string {
  return existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))
}

async function openReader({
  file,
  clock,
  recordBytesMax,
  bytesMax = 0,
  log: logger,
}: EmbeddedBusOptions): Promise<Bus> {
  const log = openLog({ file: existsSync(file) ? realpathSync(file) : file, clock, readOnly: true })
  let isClosed = false
  const changes = createChanges()
  const failed = (error: unknown): void =>
    logger?.warn({ err: error }, 'checking for new records failed')
  const stopWatching = watchLog({ log, clock, changed: changes.allChanged, failed })

  function assertOpen(): void {
    if (isClosed) throw closed(file)
  }

  function refuse(what: string): never {
    assertOpen()
    throw new WeirError(
      'bus.unwritable',
      `${file} is open read-only and cannot ${what}: open it without readOnly, if no other process writes it`,
    )
  }

  return {
    clock,
    provesFormerOwnersDead: false,
    space: () => ({ bytes: log.usedBytes(), bytesMax }),
    recordBytesMax: recordBytesMax ?? limits.recordBytesMax,
    ...createReading({ log, clock, changes, assertOpen }),
    async ensureTopics(topics) {
      assertOpen()
      log.ensureTopics(topics)
    },
    append: async () => refuse('append'),
    subscribe: async () => refuse('subscribe'),
    async close() {
      if (isClosed) return
      isClosed = true
      stopWatching()
      changes.allChanged()
      log.close()
    },
  }
}

function closed(file: string): WeirError {
  return new WeirError('bus.closed', `the bus on ${file} is closed: open it again`)
}
