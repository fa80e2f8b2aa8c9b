// The places of the sockets of a file's owner: one folder for all of them, open to this user only.
// Requests of other users never arrive: the folder has the mode 0700, and a folder of
// another user is refused.
// No process sends to a socket of another user than the file's: in a folder that all
// users may write, anybody could put one there and read the questions.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createConnection, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { WeirError } from '../../../lib/errors.ts'
import { removeLeftSockets } from './left-sockets.ts'

/** `requests`: one request a connection. `links`: a connection as long as its process lives. */
export type SocketName = 'requests' | 'links'

export function socketOf(file: string, name: SocketName): string {
  return join(`${realpathSync(file)}-owner`, name)
}

/** Only this user may enter the folder, also a folder left from before. */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700, recursive: true })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new WeirError('bus.unwritable', `${folder} is not a folder of this user: remove it`)
  chmodSync(folder, 0o700)
}

/** Linux has room for 107 bytes, others for 103. A longer path would be truncated silently. */
const pathBytesMax = 100

/** Short names that killed processes left. */
const leftLinks = { folders: /^weir-\w{6}$/, entry: 'o', sockets: ['requests', 'links'] }

/**
 * A path that is too long for a socket gets a link in a folder that is open to this user only, until
 * `remove`.
 */
function shortNameOf(path: string): { path: string; remove(): void } {
  if (Buffer.byteLength(path) <= pathBytesMax) return { path, remove() {} }
  const folder = mkdtempSync(join(tmpdir(), 'weir-'))
  symlinkSync(dirname(path), join(folder, 'o'))
  return {
    path: join(folder, 'o', basename(path)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The last two: the owner was killed while the connection was pending. */
const absences = new Set<string | undefined>(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

/** The error for a connection that could not be made. Retryable if no owner listens. */
function ownerUnreachable(file: string, cause: NodeJS.ErrnoException): WeirError {
  const isAbsent = absences.has(cause.code)
  const fault = cause.code === 'EACCES' ? 'another user writes it' : cause.message
  const why = isAbsent ? 'no process listens on its socket' : fault
  return new WeirError('bus.unreachable', `no process can write ${file} for this one: ${why}`, {
    cause,
    retryable: isAbsent,
  })
}

/**
 * Resolves when the server listens. The result removes its short name; call it after the close. libuv
 * unlinks the name that it bound, and until then no other socket may get that name.
 */
export async function listenAt(server: Server, path: string): Promise<() => void> {
  const name = shortNameOf(path)
  if (name.path !== path) void removeLeftSockets(leftLinks)
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject).listen(name.path, resolve)
    await promise
  } catch (error) {
    name.remove()
    throw error
  }
  server.on('error', () => {}) // one connection could not be accepted
  return name.remove
}

/**
 * A connection to a socket of the owner. `prepare` gets it before it is made. Throws as
 * ownerUnreachable.
 */
export async function connectedToOwner(
  file: string,
  socketName: SocketName,
  {
    allowHalfOpen = false,
    prepare,
  }: { allowHalfOpen?: boolean; prepare?(socket: Socket): void } = {},
): Promise<Socket> {
  try {
    const path = socketOf(file, socketName)
    refuseForeignFolder(file, dirname(path))
    const name = shortNameOf(path)
    try {
      const { promise, resolve, reject } = Promise.withResolvers<Socket>()
      const socket = createConnection({ path: name.path, allowHalfOpen })
      socket.once('error', reject).once('connect', () => resolve(socket.off('error', reject)))
      prepare?.(socket)
      return await promise
    } finally {
      name.remove()
    }
  } catch (error) {
    if (error instanceof WeirError) throw error
    throw ownerUnreachable(file, error as NodeJS.ErrnoException)
  }
}

/** A missing folder throws ENOENT. */
function refuseForeignFolder(file: string, folder: string): void {
  const found = lstatSync(folder)
  if (found.isDirectory() && found.uid === statSync(file).uid) return
  throw new WeirError(
    'bus.unreachable',
    `${folder} is not a folder of the user that owns ${file}, so nothing was sent to its socket: remove it`,
  )
}
