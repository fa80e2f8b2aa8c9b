// Files of keys: readable by this user only.

import { readFileSync, statSync } from 'node:fs'
import { WeirError } from '../errors.ts'
import { replaceFile } from './whole-file.ts'

/**
 * The text of a file that no other user can read or write. A file of root, as Kubernetes mounts a
 * Secret, may be readable by its group. Throws `refusal` with the reason.
 */
export function readSecretFile(
  file: string,
  refusal: (why: string, cause?: unknown) => WeirError,
): string {
  try {
    if (othersReach(statSync(file), process.getuid?.()))
      throw refusal('other users can read or write it: run chmod 600 on it')
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof WeirError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw refusal(faults[code ?? ''] ?? `it cannot be read (${code})`, cause)
  }
}

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
}

/**
 * Whether other users can read or write a file. `uid`: this user. Kubernetes mounts a Secret as
 * root's, and a user other than root reads it through the group of the pod (fsGroup).
 */
export function othersReach(
  { mode, uid: owner }: { mode: number; uid: number },
  uid: number | undefined,
): boolean {
  const mayRead = owner === 0 && uid !== 0 ? 0o440 : 0o400
  return (mode & 0o077 & ~mayRead) !== 0
}

/** Writes JSON, whole or not at all. Throws `output.unwritable`. */
export function writeSecretFile(file: string, content: object): void {
  replaceFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
}
