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
import { join, resolve } from 'node:path'
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

type Secret = { text: string; madeAt: Milliseconds }

/** Undefined: the home folder cannot be written, or another user can read the secret. */
function ownSecret(): Secret | undefined {
  const { XDG_STATE_HOME: state = join(homedir(), '.local', 'state') } = process.env
  const file = join(state, 'weir', 'owner')
  try {
    if (!existsSync(file)) {
      makeFolders(join(state, 'weir'), 0o700)
      placeSecret(file, randomBytes(32).toString('hex'))
    }
    const text = readSecretFile(file, (why) => new WeirError('settings.invalid', why)).trim()
    return /^[0-9a-f]{64}$/.test(text) ? { text, madeAt: statSync(file).birthtimeMs } : undefined
  } catch {
    return undefined
  }
}

function isMarked(dataFolder: string, secret: Secret): boolean {
  try {
    const [id = '', proof = ''] = readFileSync(markIn(dataFolder), 'utf8').trim().split(' ')
    const given = Buffer.from(proof, 'hex')
    const expected = proofOf(id, secret)
    return given.length === expected.length && timingSafeEqual(given, expected)
  } catch {
    return false
  }
}

/** A folder that cannot be marked, such as one on read-only media, stays as it is. */
function mark(dataFolder: string, secret: Secret): void {
  const id = randomBytes(16).toString('hex')
  try {
    rmSync(markIn(dataFolder), { force: true })
    placeSecret(markIn(dataFolder), `${id} ${proofOf(id, secret).toString('hex')}`)
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

function hasContent(dataFolder: string): boolean {
  return existsSync(dataFolder) && readdirSync(dataFolder).length > 0
}

/**
 * Keeps FOLDER-OWNER-2. A log that git tracks may have come before the first run. The folder of Kafka's
 * local copies has no log.
 */
function isOlder(dataFolder: string, { madeAt }: Secret): boolean {
  const log = join(dataFolder, 'weir.db')
  const { uid, birthtimeMs } = statSync(existsSync(log) ? log : dataFolder)
  return uid === process.getuid?.() && birthtimeMs < madeAt && !isTracked(log)
}

function foreign(dataFolder: string): WeirError {
  return new WeirError(
    'folder.foreign',
    `the data folder ${dataFolder} was only found here, and this user did not make it: its messages, policies and approvals are those of its maker. Read it with weir inspect, report or export. If it is yours, name it once with --data-folder ${dataFolder} (WEIR_DATA_FOLDER; in a program: dataFolder)`,
  )
}
