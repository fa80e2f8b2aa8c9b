// The way to the process that writes a file, for processes next to it: a Unix domain socket of the
// lock's owner. It carries JSON and knows no request, unlike outside-requests.ts.
// Only the holder of the lock listens, and it stops before it releases the lock. A
// silent socket is left from a killed owner. The next owner replaces it.
// Its folder is open to this user only (socket-place.ts).
// Bounded: one request a connection, its bytes, its time, and the open connections.
// A request above the last bound gets an error.
// Failing to remove the socket is logged, and the log closes all the same.

import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { limits } from '../../../contract/limits.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { type Answer, failedAnswer, valueIn } from './socket-answer.ts'
import { connectedToOwner, listenAt, makeOwnFolder, socketOf } from './socket-place.ts'

/** Such requests that are open at once: one for each partition (8) of each guard (32). */
export const outsideRequestsMax = 256

export type OwnerSocket = { close(): Promise<void> }

export type OwnerSocketOptions = {
  /** The file of the log. */
  file: string
  clock: Clock
  log: { warn(fields: object, message: string): void }
  /**
   * Resolves with the answer, or rejects with the error to send. The request may be any JSON.
   */
  answer(request: unknown): Promise<unknown>
}

/** Far more than a request and its answer need: each is one write. */
const exchangeMs = 30_000

/**
 * Call it under the lock. Throws if the file system has no sockets, or if the folder of the socket
 * belongs to another user.
 */
export async function listenForRequests({
  file,
  clock,
  log,
  answer,
}: OwnerSocketOptions): Promise<OwnerSocket> {
  const path = socketOf(file, 'requests')
  makeOwnFolder(dirname(path))
  rmSync(path, { force: true })
  const asking = new Set<Socket>()
  /** By connection. Each promise resolves when the answer is sent. */
  const answering = new Map<Socket, Promise<void>>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    bounded(socket, clock)
    asking.add(socket)
    if (answering.size >= outsideRequestsMax) {
      socket.once('close', () => asking.delete(socket))
      socket.resume().end(JSON.stringify(failedAnswer(tooMany(file))))
      return
    }
    const answered = received(socket)
      .finally(() => asking.delete(socket))
      .then((request) => answer(request))
      .then((value): Answer => ({ value: value ?? null }), failedAnswer)
      .then((answer) => void socket.end(JSON.stringify(answer)))
    answering.set(socket, answered)
    socket.once('close', () => answering.delete(socket))
  })
  server.maxConnections = 2 * outsideRequestsMax // further ones get no answer
  server.unref() // a listening socket must not keep the process alive
  const removeName = await listenAt(server, path)

  function cleared(clear: () => void): void {
    try {
      clear()
    } catch (error) {
      log.warn(
        { err: error, file },
        'the socket for other processes could not be removed: the next writer of the log removes it',
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
      cleared(removeName)
    },
  }
}

/**
 * Returns the owner's answer. `signal` ends the wait. Throws the owner's errors. Throws
 * `bus.unreachable` if no owner listens, and if it did not answer: then it may have written.
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
      ? 'did not answer in time'
      : 'has ended or hangs and gave no answer; check it, then try again'
    throw new WeirError('bus.unreachable', `the process that writes ${file} ${why}`, {
      retryable: true,
    })
  }
  return valueIn(answer)
}

/** Whether an owner listens. Throws `bus.unreachable` if this user may not send requests. */
export async function ownerListens(file: string): Promise<boolean> {
  try {
    ;(await connected(file)).destroy()
    return true
  } catch (error) {
    if (error instanceof WeirError && error.retryable) return false
    throw error
  }
}

function connected(file: string): Promise<Socket> {
  return connectedToOwner(file, 'requests', {
    allowHalfOpen: true,
    prepare: (socket) => bounded(socket, systemClock),
  })
}

function tooMany(file: string): WeirError {
  const why = `the process that writes ${file} already answers ${outsideRequestsMax} requests of other processes`
  return new WeirError('bus.full', `${why}: nothing was written; try again`, {
    retryable: true,
  })
}

/** Bounds the time of an exchange, also while data arrives. */
function bounded(socket: Socket, clock: Clock): void {
  socket.on('error', () => {}) // the reader gets 'close'
  socket.once(
    'close',
    clock.after(exchangeMs, () => socket.destroy()),
  )
}

/**
 * All bytes of the other side, as JSON. Rejects if they are not JSON, too many, or incomplete.
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
          `a request has more than ${limits.outsideRequestBytesMax} bytes`,
        ),
      )
  })
  socket.once('end', () => {
    try {
      resolve(JSON.parse(Buffer.concat(chunks).toString()))
    } catch (cause) {
      reject(new WeirError('message.invalid', 'a request is not JSON', { cause }))
    }
  })
  socket.once('close', () =>
    reject(
      new WeirError('bus.unreachable', 'the connection was closed in the middle of a request'),
    ),
  )
  return promise
}
