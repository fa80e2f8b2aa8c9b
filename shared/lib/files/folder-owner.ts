// Whether a data folder belongs to this user. A folder that was only found, such as the `.weir` of a
// checkout, may hold queued messages, policies and approvals of somebody else.
// A folder is this user's if its mark fits the secret of the user's state folder. A copy
// of a mark fits too, so a folder that the user gave away is trusted when it comes back.
// A folder without a fitting mark is trusted if a person named it, or if it is empty. The
// mark is in the folder before its first file, so a start that was killed leaves a marked folder.
// Without a state folder no mark can be made or judged. Then all folders are trusted.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { WeirError } from '../errors.ts'
import { makeFolders, removeEmptyFolders } from './make-folders.ts'
import { readSecretFile } from './secret-files.ts'
import { beginFile, nameFile, replaceFile } from './whole-file.ts'

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
 * Call it before the first file is written into the folder: it makes and marks the folder. The returned
 * function takes back the work of this call, for a caller that wrote nothing. Throws `folder.foreign`.
 */
export function claimFolder(dataFolder: string): () => void {
  const secret = ownSecret()
  if (secret === undefined) return () => {}
  refuseUnmarked(dataFolder, secret)
  return isMarked(dataFolder, secret) ? () => {} : mark(dataFolder, secret)
}

/** Throws `folder.foreign`, as claimFolder does. Changes nothing in the folder. */
export function refuseForeign(dataFolder: string): void {
  const secret = ownSecret()
  if (secret !== undefined) refuseUnmarked(dataFolder, secret)
}

/**
 * Whether a file in the folder may be used as this user's own, for a caller that can do without the file.
 * Stricter than for other folders: without a state folder, a person must have named the folder.
 */
export function isOwnFolder(dataFolder: string): boolean {
  const secret = ownSecret()
  return secret === undefined ? !found.has(resolve(dataFolder)) : isMarked(dataFolder, secret)
}

/** Another process may mark the folder and then write, between two looks of this one. */
function refuseUnmarked(dataFolder: string, secret: Secret): void {
  if (!found.has(resolve(dataFolder)) || isMarked(dataFolder, secret)) return
  if (hasContent(dataFolder) && !isMarked(dataFolder, secret)) throw foreign(dataFolder)
}

const marksMax = 16

type Secret = string

/** Undefined: the home folder cannot be written, or another user can read the secret. */
export function ownSecret(): Secret | undefined {
  try {
    const file = ownSecretFile()
    if (!existsSync(file)) {
      makeFolders(dirname(file), 0o700)
      placeSecret(file, randomBytes(32).toString('hex'))
    }
    const text = readSecretFile(file, (why) => new WeirError('settings.invalid', why)).trim()
    return /^[0-9a-f]{64}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

/** Clients of fronts read it too (apps/http/fronts/front-mark.ts). */
export function ownSecretFile(): string {
  return join(stateFolder(), 'weir', 'owner')
}

/** The specification of XDG has absolute paths only: a checkout must not bring the folder along. */
export function stateFolder(): string {
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
function mark(dataFolder: string, secret: Secret): () => void {
  const id = randomBytes(16).toString('hex')
  const own = `${id} ${proofOf(id, secret).toString('hex')}`
  const others = marksIn(dataFolder)
  let made: string[] = []
  try {
    made = makeFolders(dataFolder, 0o700)
    const marks = [...others.slice(1 - marksMax), own]
    replaceFile(markIn(dataFolder), `${marks.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // The next start judges the folder again.
  }
  return () => {
    if (others.length === 0) rmSync(markIn(dataFolder), { force: true })
    removeEmptyFolders(made)
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

function proofOf(id: string, secret: Secret): Buffer {
  return createHmac('sha256', secret).update(`weir data folder ${id}`).digest()
}

/** Weir's own files in a data folder begin with `weir.` (log-file.ts). */
function markIn(dataFolder: string): string {
  return join(dataFolder, 'weir.owner')
}

/** A first start that was killed leaves a lock, and a checkout may keep a file for git in the folder. */
function hasContent(dataFolder: string): boolean {
  const isEmpty = (name: string) =>
    name === 'weir.db-lock' || name.startsWith('weir.owner') || name.startsWith('.git')
  return existsSync(dataFolder) && !readdirSync(dataFolder).every(isEmpty)
}

function foreign(dataFolder: string): WeirError {
  return new WeirError(
    'folder.foreign',
    `the data folder ${dataFolder} was only found here, and it has no mark of this user: its messages, policies and approvals are those of its maker. Read it with weir inspect, report or export. If it is yours, perhaps of an earlier version, name it once with --data-folder ${dataFolder} (WEIR_DATA_FOLDER; in a program: dataFolder)`,
  )
}
