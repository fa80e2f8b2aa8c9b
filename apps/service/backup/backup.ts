// `weir backup FILE` copies the log of a data folder into one file, also while processes use the
// folder.
// A backup holds no key: not the server's, and none of a tenant. Encrypted records stay
// encrypted in it.

import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { beginFile, guarded, nameFile } from '../../../shared/lib/files/whole-file.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { pinsFileName } from '../../../shared/tools/mcp/tool-pins.ts'
import { assertLogExists } from '../../history/open-log.ts'
import { bytesText } from '../../terminal/text/quantities.ts'

/** The files of a data folder that a backup holds besides the log. */
export const filesInBackup = [pinsFileName]

/** Throws `output.exists`, `output.unwritable`, and `bus.*` for a log that cannot be read. */
export function backUp(file: string, settings: Settings, out: NodeJS.WriteStream): 0 {
  const kind = localKind('backup', settings)
  assertLogExists(settings)
  if (existsSync(file))
    throw new WeirError('output.exists', `${file} exists already: name another file`)
  const { dataFolder } = settings
  const madeAt = new Date(systemClock.now()).toISOString()
  const unfinished = beginFile(file)
  try {
    guarded(file, () =>
      kind.backUpLog({ dataFolder }, unfinished, { madeAt, files: filesOf(dataFolder) }),
    )
    nameFile(unfinished, file, { force: false })
  } finally {
    rmSync(unfinished, { force: true })
  }
  out.write(`${file}: the log of ${dataFolder} at ${madeAt}, ${bytesText(statSync(file).size)}\n`)
  out.write(
    'not in it: key files, agent files and settings. See docs/operate/backup.md for the rest\n',
  )
  return 0
}

function filesOf(dataFolder: string): Record<string, Uint8Array> {
  const there = filesInBackup.filter((name) => existsSync(join(dataFolder, name)))
  return Object.fromEntries(there.map((name) => [name, readFileSync(join(dataFolder, name))]))
}

/** Throws `usage` for a bus whose log is not on this machine. */
export function localKind(command: 'backup' | 'restore', settings: Settings): LocalBus {
  const kind = busKindOf(settings)
  if (kind.isLocal) return kind
  throw usageError(
    `weir ${command} works on a data folder, and the log of ${kind.title} is in its brokers: docs/operate/backup.md says what to copy there. Remove --bus ${settings.bus}`,
  )
}
