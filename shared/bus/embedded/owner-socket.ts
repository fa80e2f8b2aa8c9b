// The way to the process that writes a file, for processes beside it: a Unix domain socket on which
// the owner of the lock takes requests. It carries JSON and knows of no request:
// shared/bus/embedded/outside-requests.ts does.
// OWNER-SOCKET-1. Only who holds the lock listens, and stops before it gives the lock back. So a
//     socket at which nobody answers was left by a killed owner, and the next one puts its own in
//     its place.
// OWNER-SOCKET-2. It stands in a folder that only this user may enter: what others ask never
//     arrives.
// OWNER-SOCKET-3. Bounded: one request a connection, its bytes, how long request and answer take
//     together, and how many are open. Who is too many is told so.
// OWNER-SOCKET-4. At its end it gets in nobody's way: what it cannot clear away it logs, and the
//     log is closed all the same.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { limits } from '../../contract/limits.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { type ErrorCode, errorCodes, WeirError } from '../../lib/errors.ts'

export type OwnerSocket = { close(): Promise<void> }

export type OwnerSocketOptions = {
  /** The file of the log. */
  file: string
  clock: Clock
  log: { warn(fields: object, message: string): void }
  /**
   * What it resolves with, or the error that it rejects with, is the answer. The request may be
   * anything that is JSON.
   */
  answer(request: unknown): Promise<unknown>
}

type Answer =
  | { value: unknown }
  | { error: { code: ErrorCode; message: string; retryable: boolean } }

/** Linux has room for 107 bytes, others for 103; a longer path would be cut in silence. */
const pathBytesMax = 100
/** A request is there at once, and so is its answer: the log is written, or it is not. */
const exchangeMs = 30_000

/**
 * Under the lock. Throws where the file system has no sockets, or the folder of the socket is
 * somebody else's.
 */
export async function listenForRequests({
  file,
  clock,
  log,
  answer,
}: OwnerSocketOptions): Promise<OwnerSocket> {
  const path = socketOf(file)
  makeOwnFolder(dirname(path))
  rmSync(path, { force: true }) // keeps OWNER-SOCKET-1
  const asking = new Set<Socket>()
  /** By connection: when its answer is on its way. */
  const answering = new Map<Socket, Promise<void>>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    bounded(socket, clock)
    asking.add(socket)
    if (answering.size >= limits.outsideRequestsMax) {
      socket.once('close', () => asking.delete(socket))
      socket.resume().end(JSON.stringify(answerOf(tooMany(file))))
      return
    }
    const answered = received(socket)
      .finally(() => asking.delete(socket))
      .then((request) => answer(request))
      .then((value): Answer => ({ value: value ?? null }), answerOf)
      .then((answer) => void socket.end(JSON.stringify(answer)))
    answering.set(socket, answered)
    socket.once('close', () => answering.delete(socket))
  })
  server.maxConnections = 2 * limits.outsideRequestsMax // beyond it nobody is told even that
  server.unref() // to be asked is no reason to live on
  // libuv unlinks by the name that was bound: until then nobody else may have that name.
  const name = shortNameOf(path)
  try {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject).listen(name.path, resolve)
    await promise
  } catch (error) {
    name.remove()
    throw error
  }
  server.on('error', () => {}) // of a single connection that could not be accepted

  /** Keeps OWNER-SOCKET-4. */
  function cleared(clear: () => void): void {
    try {
      clear()
    } catch (error) {
      log.warn(
        { err: error, file },
        'the way for requests of other processes could not be cleared away: the next one to write the log does it',
      )
    }
  }

  return {
    async close() {
      cleared(() => rmSync(dirname(path), { recursive: true, force: true })) // another user may be the next owner
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      for (const socket of asking) socket.destroy()
      await Promise.all(answering.values())
      for (const socket of answering.keys()) socket.destroySoon()
      await promise
      cleared(name.remove)
    },
  }
}

/**
 * The owner's answer. `signal`: nobody waits for it any more. Throws what the owner threw;
 * `bus.unreachable` where nobody listens (nothing was done), or the owner did not answer (it may
 * have been done).
 */
export async function requestFromOwner(
  file: string,
  request: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const socket = await connected(file)
  const cut = (): void => void socket.destroy()
  signal?.addEventListener('abort', cut, { once: true })
  if (signal?.aborted) cut()
  else socket.end(JSON.stringify(request))
  const answer = (await received(socket).catch(() => undefined)) as Answer | undefined
  signal?.removeEventListener('abort', cut)
  socket.destroy()
  if (answer === undefined) {
    const why = signal?.aborted
      ? 'was not waited for any longer'
      : 'has ended, or hangs, and gave no answer; look, and ask again'
    throw new WeirError('bus.unreachable', `the process that writes ${file} ${why}`, {
      retryable: true,
    })
  }
  if ('value' in answer) return answer.value
  const { code, message, retryable } = answer.error
  throw new WeirError(errorCodes.find((known) => known === code) ?? 'runtime.assertion', message, {
    retryable,
  })
}

/** Whether an owner listens. Throws `bus.unreachable` where this user may not ask it. */
export async function ownerListens(file: string): Promise<boolean> {
  try {
    ;(await connected(file)).destroy()
    return true
  } catch (error) {
    if (error instanceof WeirError && error.retryable) return false
    throw error
  }
}

function socketOf(file: string): string {
  return join(`${realpathSync(file)}-owner`, 'requests')
}

/** Keeps OWNER-SOCKET-2, also where the folder is left from before. */
function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { mode: 0o700, recursive: true })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new WeirError('bus.unwritable', `${folder} is not a folder of this user: remove it`)
  chmodSync(folder, 0o700)
}

async function connected(file: string): Promise<Socket> {
  try {
    const name = shortNameOf(socketOf(file))
    try {
      const { promise, resolve, reject } = Promise.withResolvers<Socket>()
      const socket = createConnection({ path: name.path, allowHalfOpen: true })
      socket.once('error', reject).once('connect', () => resolve(socket.off('error', reject)))
      bounded(socket, systemClock)
      return await promise
    } finally {
      name.remove()
    }
  } catch (error) {
    throw nobodyToAsk(file, error as NodeJS.ErrnoException)
  }
}

/** The last two: it was killed while the connection stood at its door. */
const absences = new Set<string | undefined>(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

function nobodyToAsk(file: string, cause: NodeJS.ErrnoException): WeirError {
  const isAbsent = absences.has(cause.code)
  const why = isAbsent
    ? 'no process listens beside it'
    : cause.code === 'EACCES'
      ? 'it is another user who writes it'
      : cause.message
  return new WeirError('bus.unreachable', `nobody can be asked to write ${file}: ${why}`, {
    cause,
    retryable: isAbsent,
  })
}

function tooMany(file: string): WeirError {
  const why = `the process that writes ${file} is answering ${limits.outsideRequestsMax} requests of other processes, and takes no more at once`
  return new WeirError('bus.full', `${why}: nothing of this one was done; ask again`, {
    retryable: true,
  })
}

/**
 * A path that is too long for a socket is reached by a link in a folder that only this user may
 * enter, until that is removed.
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

/** Keeps OWNER-SOCKET-3: however much comes over it in the meantime. */
function bounded(socket: Socket, clock: Clock): void {
  socket.on('error', () => {}) // whoever reads hears of it by 'close'
  socket.once(
    'close',
    clock.after(exchangeMs, () => socket.destroy()),
  )
}

/**
 * All that the other side answer, when it has said it. Rejects when that is no JSON, too much, or was
 * cut off.
 */
function received(socket: Socket): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const chunks: Buffer[] = []
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= limits.outsideRequestBytesMax) chunks.push(chunk)
    else
      reject(
        new WeirError(
          'bus.record-too-large',
          `a request has more than the ${limits.outsideRequestBytesMax} bytes that are taken`,
        ),
      )
  })
  socket.once('end', () => {
    try {
      resolve(JSON.parse(Buffer.concat(chunks).toString()))
    } catch (cause) {
      reject(new WeirError('message.invalid', 'a request is no JSON', { cause }))
    }
  })
  socket.once('close', () =>
    reject(
      new WeirError('bus.unreachable', 'the connection was closed in the middle of a request'),
    ),
  )
  return promise
}

function answerOf(error: unknown): Answer {
  if (error instanceof WeirError)
    return { error: { code: error.code, message: error.message, retryable: error.retryable } }
  return {
    error: {
      code: 'runtime.assertion',
      message: error instanceof Error ? error.message : String(error),
      retryable: false,
    },
  }
}
