// The data folder: whether Weir can write there, whether another process writes there, and whether
// this Weir can continue the file.

import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { endsOf } from '../../../client/history/readable-log.ts'
import { isNameBesideLog } from '../../../shared/bus/embedded/file/log-file.ts'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { keptForever } from '../../../shared/contract/retention.ts'
import { type TopicName, topics } from '../../../shared/contract/topology.ts'
import { refuseForeign } from '../../../shared/lib/files/folder-owner.ts'
import { widerThanUser } from '../../../shared/lib/files/private-files.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type OpenLog, withLog } from '../../history/open-log.ts'
import { bytesText, count } from '../../terminal/text/quantities.ts'
import { type Check, ok, warning, wrong, wrongBy } from './check.ts'
import { guardsCheck } from './guards.ts'
import { clockCheck } from './machine.ts'

const MiB = 1024 * 1024
/** The bytes that may wait to be written, and as much again for the write-ahead log. */
const freeBytesMin = 512 * MiB

export async function* folderChecks(kind: LocalBus, settings: Settings): AsyncGenerator<Check> {
  const folder = folderCheck(settings)
  yield folder
  if (folder.state === 'ok') yield* ownerCheck(settings)
  if (folder.state === 'ok') yield accessCheck(settings)
  yield lockCheck(kind, settings)
  yield spaceCheck(settings)
  const { check, newest } = await fileCheck(kind.logFile(settings), settings)
  yield check
  if (newest !== undefined) yield await sizeCheck(settings)
  if (newest !== undefined) yield await guardsCheck(settings)
  yield clockCheck(Date.now(), newest)
}

function folderCheck({ dataFolder }: Settings): Check {
  const name = 'data folder'
  const found = existing(dataFolder)
  try {
    if (!statSync(found).isDirectory())
      return wrong(
        name,
        `${found} is no folder`,
        'name another one: --data-folder, WEIR_DATA_FOLDER',
      )
    accessSync(found, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return wrong(
      name,
      `${found} cannot be written (${code})`,
      'give this user the permission, or name another one: --data-folder, WEIR_DATA_FOLDER',
    )
  }
  return ok(
    name,
    existsSync(dataFolder)
      ? `${dataFolder} can be written`
      : `${dataFolder} does not exist yet and can be created`,
  )
}

/** A folder that was only found is read only. */
function* ownerCheck({ dataFolder }: Settings): Generator<Check> {
  try {
    refuseForeign(dataFolder)
  } catch (error) {
    yield wrongBy('owner', error)
  }
}

/** Paths that a finding lists. */
const shownMax = 10

/**
 * The whole folder, because results of tools, copies of tables and the key of a server are there too.
 * The next run closes the files of the log, and a folder that has no others.
 */
function accessCheck({ dataFolder }: Settings): Check {
  const name = 'access'
  const { open, foreign } = widerThanUser(dataFolder, isNameBesideLog)
  const shown = (paths: string[], separator: string) => paths.slice(0, shownMax).join(separator)
  if (foreign.length > 0)
    return warning(
      name,
      `another user owns ${shown(foreign, ', ')}`,
      'run Weir as that user, or make this user the owner: chown',
    )
  if (open.length === 0) return ok(name, 'no other user can read the conversations')
  return warning(
    name,
    `other users of this machine can reach ${shown(open, ', ')}`,
    `close it: chmod go= ${shown(open, ' ')}`,
  )
}

function lockCheck(kind: LocalBus, settings: Settings): Check {
  const name = 'lock'
  try {
    const lock = kind.lockState(settings)
    if (lock.kind === 'free') return ok(name, 'no other process writes there')
    const who = lock.pid === undefined ? 'another process' : `process ${lock.pid}`
    return warning(
      name,
      `${who} writes there`,
      'wait for its end, stop it, or name another folder: --data-folder, WEIR_DATA_FOLDER',
    )
  } catch (error) {
    return wrongBy(name, error)
  }
}

function spaceCheck({ dataFolder }: Settings): Check {
  const name = 'disk space'
  const folder = existing(dataFolder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= freeBytesMin) return ok(name, `${bytesText(free)} free`)
  return wrong(
    name,
    `${bytesText(free)} free on the disk of ${folder}`,
    `make room: at least ${bytesText(freeBytesMin)}`,
  )
}

/** `newest`: the newest time in the log. Undefined: there is no log. */
async function fileCheck(
  file: string,
  settings: Settings,
): Promise<{ check: Check; newest?: number | undefined }> {
  const name = 'log file'
  if (!existsSync(file))
    return { check: ok(name, `${file} does not exist yet; the first run creates it`) }
  try {
    return await withLog(settings, async (log) => ({
      check: topicsCheck(name, file, settings, log),
      newest: await newestTime(log),
    }))
  } catch (error) {
    return { check: wrongBy(name, error) }
  }
}

/** Call it if there is a log. */
async function sizeCheck(settings: Settings): Promise<Check> {
  const name = 'log size'
  const max = settings.dataFolderBytesMax
  const used = await withLog(settings, async ({ bus }) => bus.space?.().bytes ?? 0)
  if (max === 0) return ok(name, `${bytesText(used)}, ${keptText(settings)}`)
  const finding = `${bytesText(used)} of ${bytesText(max)}`
  const remedy =
    'raise dataFolderBytesMax, set retentionDays lower, delete conversations (weir forget), or name another data folder'
  if (used >= max) return wrong(name, `${finding}: no new turn begins`, remedy)
  return used >= 0.9 * max ? warning(name, `${finding}: nearly full`, remedy) : ok(name, finding)
}

function keptText({ retentionDays }: Settings): string {
  return retentionDays === keptForever
    ? 'and it grows: conversations stay until somebody deletes them (retentionDays, weir forget)'
    : `with the records of ${count(retentionDays, 'day')} (retentionDays)`
}

function topicsCheck(name: string, file: string, { partitions }: Settings, log: OpenLog): Check {
  const finding = `${file}, ${bytesText(statSync(file).size)}, in a format that this Weir reads`
  if (log.partitions === partitions) return ok(name, finding)
  const differs = `the setting partitions is ${partitions}, and its topics have ${log.partitions}`
  return wrong(
    name,
    `${file}: ${differs}`,
    `set partitions to ${log.partitions} (weir settings shows its source)`,
  )
}

/** Times never go back in a partition, so its last record is the newest. */
async function newestTime(log: OpenLog): Promise<number> {
  let newest = 0
  for (const topic of Object.keys(topics) as TopicName[])
    for (const { partition, end } of await endsOf(log, topic)) {
      const [last] = await log.bus.read({
        topic: log.topicPrefix + topic,
        partition,
        from: Math.max(0, end - 1),
        limit: 1,
      })
      newest = Math.max(newest, last?.time ?? 0)
    }
  return newest
}

/** The folder, or the innermost existing one around it. */
function existing(folder: string): string {
  let found = resolve(folder)
  while (!existsSync(found) && found !== dirname(found)) found = dirname(found)
  return found
}
