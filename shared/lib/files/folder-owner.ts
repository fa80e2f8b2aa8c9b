// Whether a data folder belongs to this user. A folder that was only found, such as the `.weir` of a
// checkout, may hold queued messages, policies and approvals of somebody else.
// FOLDER-OWNER-1. A folder is this user's if its mark fits the secret of the user's state folder. A copy
//     of a mark fits too, so a folder that the user gave away is trusted when it comes back.
// FOLDER-OWNER-2. A folder without a fitting mark is trusted if a person named it, or if this user owns
//     it and its log was there before the secret. The kernel sets that time, and no archive can.
// FOLDER-OWNER-3. Without a state folder no mark can be made or judged. Then all folders are trusted.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Milliseconds } from '../clock.ts'
import { WeirError } from '../errors.ts'
import { makeFolders } from './make-folders.ts'
import { readSecretFile } from './secret-files.ts'
import { isTracked } from './tracked-file.ts'
import { beginFile, nameFile } from './whole-file.ts'

/** Folders that no flag, variable, named file or option named, by their whole paths, and the finder. */
const found = new Map<string, 'command' | 'program'>()

/** Call it for a path that nobody named. A command passes its path on as an option of a program. */
export function noteFoundFolder(dataFolder: string, finder: 'command' | 'program'): void {
  found.set(resolve(dataFolder), finder)
}

/** Call it for an option of a program. The path of a command stays as the command found it. */
export function noteNamedFolder(dataFolder: string): void {
  if (found.get(resolve(dataFolder)) === 'program') found.delete(resolve(dataFolder))
}

/**
 * Call it before the folder is written, and the result after it exists: it marks the folder. Throws
 * `folder.foreign`.
 */
export function claimFolder(dataFolder: string): () => void {
  const secret = ownSecret()
  if (secret === undefined || isMarked(dataFolder, secret)) return () => {}
  if (found.has(resolve(dataFolder)) && hasContent(dataFolder) && !isOlder(dataFolder, secret))
    throw foreign(dataFolder)
  return () => mark(dataFolder, secret)
}

const marksMax = 16

type Secret = { text: string; madeAt: Milliseconds }

/** Undefined: the home folder cannot be written, or another user can read the secret. */
function ownSecret(): Secret | undefined {
  try {
    const state = stateFolder()
    const file = join(state, 'weir', 'owner')
    if (!existsSync(file)) {
      makeFolders(join(state, 'weir'), 0o700)
      placeSecret(file, randomBytes(32).toString('hex'))
    }
    const text = readSecretFile(file, (why) => new WeirError('settings.invalid', why)).trim()
    const { birthtimeMs, mtimeMs } = statSync(file)
    return /^[0-9a-f]{64}$/.test(text) ? { text, madeAt: birthtimeMs || mtimeMs } : undefined
  } catch {
    return undefined
  }
}

/** The specification of XDG has absolute paths only: a checkout must not bring the folder along. */
function stateFolder(): string {
  const { XDG_STATE_HOME: named = '' } = process.env
  return isAbsolute(named) ? named : join(homedir(), '.local', 'state')
}

function isMarked(dataFolder: string, secret: Secret): boolean {
  return marksIn(dataFolder).some((line) => {
    const [id = '', proof = ''] = line.split(' ')
    const written = Buffer.from(proof, 'hex')
    const expected = proofOf(id, secret)
    return written.length === expected.length && timingSafeEqual(written, expected)
  })
}

/** A line for each state folder that the folder belongs to, such as those of a host and a container. */
function marksIn(dataFolder: string): string[] {
  try {
    return readFileSync(markIn(dataFolder), 'utf8').trim().split('\n').slice(-marksMax)
  } catch {
    return []
  }
}

/** A folder that cannot be marked, such as one on read-only media, stays as it is. */
function mark(dataFolder: string, secret: Secret): void {
  const id = randomBytes(16).toString('hex')
  const own = `${id} ${proofOf(id, secret).toString('hex')}`
  const marks = [...marksIn(dataFolder).slice(1 - marksMax), own]
  try {
    rmSync(markIn(dataFolder), { force: true })
    placeSecret(markIn(dataFolder), marks.join('\n'))
  } catch {
    // The next start judges the folder again.
  }
}

/** Whole from its first moment. Another process may be first: its file stays. */
function placeSecret(file: string, text: string): void {
  const unfinished = beginFile(file)
  try {
    writeFileSync(unfinished, `${text}\n`)
    nameFile(unfinished, file, { force: false })
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function proofOf(id: string, { text }: Secret): Buffer {
  return createHmac('sha256', text).update(`weir data folder ${id}`).digest()
}

/** Weir's own files in a data folder begin with `weir.` (log-file.ts). */
function markIn(dataFolder: string): string {
  return join(dataFolder, 'weir.owner')
}

/** A first start that was killed leaves a lock, and a checkout may keep a file for git in the folder. */
function hasContent(dataFolder: string): boolean {
  const isEmpty = (name: string) => name === 'weir.db-lock' || name.startsWith('.git')
  return existsSync(dataFolder) && !readdirSync(dataFolder).every(isEmpty)
}

/**
 * Keeps FOLDER-OWNER-2. A log that git tracks may have come before the first run. The folder of Kafka's
 * local copies has no log. A file system without birth times gives 0.
 */
function isOlder(dataFolder: string, { madeAt }: Secret): boolean {
  const log = join(dataFolder, 'weir.db')
  const { uid, birthtimeMs } = statSync(existsSync(log) ? log : dataFolder)
  return (
    uid === process.getuid?.() && (birthtimeMs === 0 || birthtimeMs < madeAt) && !isTracked(log)
  )
}

function foreign(dataFolder: string): WeirError {
  return new WeirError(
    'folder.foreign',
    `the data folder ${dataFolder} was only found here, and this user did not make it: its messages, policies and approvals are those of its maker. Read it with weir inspect, report or export. If it is yours, name it once with --data-folder ${dataFolder} (WEIR_DATA_FOLDER; in a program: dataFolder)`,
  )
}
