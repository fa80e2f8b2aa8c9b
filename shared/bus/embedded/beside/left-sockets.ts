// Removes the folders of Unix sockets that killed processes left among the temporary files.
// A folder is removed only if it is this user's, closed to others, and holds nothing
// but the expected name.
// The system must refuse each socket of the folder. Then no process of this machine
// listens, in any container.
// A young folder stays: its process may be about to listen.

import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type LeftSockets = {
  /** The names of such folders. */
  folders: RegExp
  /** The only name in such a folder: a socket, or a link to the folder of the sockets. */
  entry: string
  /** In the folder that the link names. Empty: the entry is the socket. */
  sockets?: readonly string[]
  parent?: string
  youngMs?: number
}

/** Never throws: a folder stays if it cannot be judged or removed. */
export async function removeLeftSockets({
  folders,
  entry,
  sockets = [''],
  parent = tmpdir(),
  youngMs = 60_000,
}: LeftSockets): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names.filter((one) => folders.test(one))) {
    const folder = join(parent, name)
    try {
      const paths = sockets.map((socket) => join(folder, entry, socket))
      if (!(await isOwnAndOld(folder, entry, youngMs)) || !(await areRefused(paths))) continue
      await unlink(join(folder, entry))
      await rmdir(folder)
    } catch {} // another process removed it, or changes it now
  }
}

async function isOwnAndOld(folder: string, entry: string, youngMs: number): Promise<boolean> {
  const { mode, uid, mtimeMs } = await lstat(folder)
  const isOwn = uid === process.getuid?.() && (mode & 0o077) === 0
  const names = isOwn && Date.now() - mtimeMs >= youngMs ? await readdir(folder) : []
  return names.length === 1 && names[0] === entry
}

async function areRefused(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (!(await isRefused(path))) return false
  return true
}

/** Any other fault, such as a missing right, proves nothing. */
function isRefused(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(path)
  socket.once('connect', () => {
    socket.destroy()
    resolve(false)
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) =>
    resolve(code === 'ECONNREFUSED' || code === 'ENOENT'),
  )
  return promise
}
