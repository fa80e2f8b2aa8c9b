// The key of a server without `--api-keys` and without an issuer. It is in the data folder, so it
// opens the server to the user of the folder, and to no other user of the machine.
// The file is complete from its first moment, and only its user can read it. All servers of
// the folder have the same key.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { claimFolder } from '../../../../shared/lib/files/folder-owner.ts'
import { makeFolders } from '../../../../shared/lib/files/make-folders.ts'
import { readSecretFile } from '../../../../shared/lib/files/secret-files.ts'
import { beginFile, nameFile } from '../../../../shared/lib/files/whole-file.ts'
import { apiKeyPrefix } from './api-keys.ts'

export type OwnKey = { key: string; file: string }

/** Makes the key if the folder has none. Throws `settings.invalid`, `folder.foreign` and `output.unwritable`. */
export function ownKeyOf(dataFolder: string): OwnKey {
  claimFolder(dataFolder)
  const made = ownKeyIn(dataFolder)
  if (made !== undefined) return made
  const file = keyFileIn(dataFolder)
  makeFolders(dataFolder, 0o700)
  const unfinished = beginFile(file)
  try {
    writeFileSync(unfinished, `${apiKeyPrefix}${randomBytes(32).toString('base64url')}\n`)
    nameFile(unfinished, file, { force: false })
  } catch (error) {
    rmSync(unfinished, { force: true })
    if (!(error instanceof WeirError && error.code === 'output.exists')) throw error
  }
  const key = ownKeyIn(dataFolder)
  if (key === undefined) throw invalid(file, 'it is gone')
  return key
}

/** Undefined: the folder has no key. Throws as ownKeyOf. */
export function ownKeyIn(dataFolder: string): OwnKey | undefined {
  const file = keyFileIn(dataFolder)
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid) throw invalid(file, 'it belongs to another user')
  const key = readSecretFile(file, (why, cause) => invalid(file, why, cause)).trim()
  if (!keyShape.test(key)) throw invalid(file, 'it holds no key')
  return { key, file }
}

/** Whether a header `Authorization: Bearer KEY` has the key. */
export function hasKey(authorization: string | undefined, key: string): boolean {
  const credential = bearerIn(authorization)
  if (credential === undefined) return false
  return timingSafeEqual(hash('sha256', credential, 'buffer'), hash('sha256', key, 'buffer'))
}

/** The credential of a header `Authorization`. Undefined: it has another form. */
export function bearerIn(authorization = ''): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1]
}

/** Weir's own files in a data folder begin with `weir.` (log-file.ts). */
function keyFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.key')
}

const keyShape = new RegExp(`^${apiKeyPrefix}[A-Za-z0-9_-]{43}$`)

function invalid(file: string, fault: string, cause?: unknown): WeirError {
  return new WeirError(
    'settings.invalid',
    `the key of this server, ${file}: ${fault}. Remove the file, and the next start makes a new key`,
    { cause },
  )
}
