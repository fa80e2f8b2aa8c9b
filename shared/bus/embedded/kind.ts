// The record of the embedded bus: its capabilities, and the ways to open it. The process that
// opens it for writing also writes for processes next to it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Bus } from '../../contract/bus.ts'
import { systemClock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { reachedByOthers } from '../../lib/files/private-files.ts'
import { learningBus } from '../fleet/learning-bus.ts'
import type { GroupPlace, GroupProgress } from '../group-progress.ts'
import type { BesideSettings, BusSettings, LocalBus, OpenOptions } from '../kind.ts'
import { backUpLog, restoreLog } from './backup.ts'
import { openBeside, openBesideOwner } from './beside/beside.ts'
import { linkToOwner } from './beside/link.ts'
import { answerOf, isOutsideRequest } from './beside/outside-requests.ts'
import { listenForLinks } from './beside/owner-links.ts'
import { listenForRequests, ownerListens } from './beside/owner-socket.ts'
import { openEmbeddedBus } from './bus.ts'
import { lockStateOf } from './file/lock.ts'
import { filesOfLog, logFileIn } from './file/log-file.ts'
import { importLog } from './import.ts'
import { createCommitTable } from './log/log-commits.ts'
import { openDatabase } from './log/log-database.ts'
import { partitionsIn } from './partitions-in.ts'

/** A process that owns the log may just be starting or ending: it gets two seconds. */
const ownerTriesMax = 20
const ownerTryMs = 100

export const embeddedKind: LocalBus = {
  title: 'the embedded bus',
  place: 'a data folder',
  isLocal: true,
  ownsTopics: true,
  hasAtomicSteps: true,
  describe: ({ dataFolder, partitions }) => ({ dataFolder, partitions }),
  open: openOwned,
  openReadOnly: async ({ dataFolder, dataFolderBytesMax: bytesMax, topicPrefix }) => {
    const file = logFileIn(dataFolder)
    const bus = await openEmbeddedBus({ file, clock: systemClock, readOnly: true, bytesMax })
    return learningBus(bus, topicPrefix)
  },
  progressOfGroups,
  openBeside: openOwnedOrBeside,
  logFile: ({ dataFolder }) => logFileIn(dataFolder),
  partitionsIn: ({ dataFolder }, topic) => partitionsIn(logFileIn(dataFolder), topic),
  lockState: ({ dataFolder }) => lockStateOf(logFileIn(dataFolder)),
  writerListens: ({ dataFolder }) => ownerListens(logFileIn(dataFolder)),
  openBesideWriter,
  link: ({ dataFolder }) => linkToOwner(logFileIn(dataFolder), systemClock),
  openLinked: ({ dataFolder, topicPrefix }, log, request) =>
    openBeside({ file: logFileIn(dataFolder), clock: systemClock, topicPrefix, log, request }),
  importLog,
  backUpLog: ({ dataFolder }, to, content) => backUpLog(logFileIn(dataFolder), to, content),
  restoreLog,
}

/** The data folder and all files of the log, existing or not. */
function privatePaths({ dataFolder }: Pick<BusSettings, 'dataFolder'>): string[] {
  return [dataFolder, ...filesOfLog(logFileIn(dataFolder))]
}

/** Without its socket the owner works as well, so a failed socket is only logged. */
async function openOwned(
  { dataFolder, synchronous, dataFolderBytesMax: bytesMax, topicPrefix }: BusSettings,
  { log, keepFrom, clock = systemClock, linkHost, values }: OpenOptions,
): Promise<Bus> {
  const file = logFileIn(dataFolder)
  const open = reachedByOthers(privatePaths({ dataFolder }))
  const bus = await openEmbeddedBus({ file, clock, synchronous, bytesMax, keepFrom, log })
  if (open.length > 0)
    log.warn(
      { paths: open, stillOpen: reachedByOthers(open) },
      'other users could reach these paths of the log; paths that Weir alone uses are closed now',
    )
  const outside = values?.(bus)
  async function listen(): Promise<{ close(): Promise<void> }> {
    const requests = await listenForRequests({
      file,
      clock,
      log,
      answer: (request) => answerOf(bus, request, outside),
    })
    if (linkHost === undefined) return requests
    const links = await listenForLinks(file, {
      answer: (link, request) =>
        isOutsideRequest(request)
          ? answerOf(bus, request, outside)
          : linkHost.answer(link, request),
      left: (link) => linkHost.left(link),
    })
    return {
      async close() {
        await links.close()
        await requests.close()
      },
    }
  }

  const socket = await listen().catch((error: unknown) => {
    log.info(
      { err: error, file },
      'cannot accept requests of other processes: they must wait until this process ends',
    )
    return undefined
  })
  return {
    ...learningBus(bus, topicPrefix),
    async close() {
      try {
        await socket?.close()
      } finally {
        await bus.close()
      }
    },
  }
}

/** The process that owns the file reads for all groups. */
async function progressOfGroups(
  { dataFolder }: BusSettings,
  places: readonly GroupPlace[],
): Promise<GroupProgress[]> {
  const file = logFileIn(dataFolder)
  const isRunning = (await ownerListens(file)) || lockStateOf(file).kind === 'held'
  const database = openDatabase({ file, readOnly: true })
  try {
    const { offsetsOf } = createCommitTable(database)
    return places.map((place) => ({ ...place, isRunning, commits: offsetsOf(place) }))
  } finally {
    database.close()
  }
}

function openBesideWriter(
  { dataFolder, topicPrefix }: BesideSettings,
  log: Logger,
): Promise<Bus | undefined> {
  return openBesideOwner({ file: logFileIn(dataFolder), clock: systemClock, topicPrefix, log })
}

/** Opens the file as its owner, or next to the owner that accepts requests. */
async function openOwnedOrBeside(settings: BesideSettings, options: OpenOptions): Promise<Bus> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openOwned(settings, options)
    } catch (error) {
      if (!(error instanceof WeirError && error.code === 'bus.locked')) throw error
      const beside = await openBesideWriter(settings, options.log)
      if (beside !== undefined) return reopening(beside, () => openOwnedOrBeside(settings, options))
      if (tries === ownerTriesMax) throw error
      await sleep(ownerTryMs)
    }
  }
}

/**
 * The owner may be another short command, gone before the first write. Then the file is opened
 * again. A request that may have reached the owner is not repeated.
 */
function reopening(beside: Bus, openAgain: () => Promise<Bus>): Bus {
  let current = beside
  async function onCurrent<T>(work: (bus: Bus) => Promise<T>): Promise<T> {
    try {
      return await work(current)
    } catch (error) {
      if (current !== beside || !neverReachedOwner(error)) throw error // a bus opened again reopens by itself
      current = await openAgain()
      return work(current)
    }
  }
  return {
    ...beside,
    append: (records, how) => onCurrent((bus) => bus.append(records, how)),
    ensureTopics: (specs) => onCurrent((bus) => bus.ensureTopics(specs)),
    async close() {
      if (current !== beside) await current.close()
      await beside.close()
    },
  }
}

/** No connection was made, so nothing was written (owner-socket.ts). */
function neverReachedOwner(error: unknown): boolean {
  return (
    error instanceof WeirError &&
    error.code === 'bus.unreachable' &&
    error.retryable &&
    error.cause !== undefined
  )
}
