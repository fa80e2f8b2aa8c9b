// The links of a file's owner: connections of processes next to it that last as long as both
// processes. Each side sees at once that the other has died. Lines of JSON: a request with a number,
// and the answer with that number.
// Only the holder of the lock listens, and it stops before it releases the lock.
// Bounded: the links, the bytes of a request, and the open requests of a link. Its
// owner reads on from a link after its answers are read.
// A slow or hostile link holds up no other: nobody waits for it.

import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { WeirError } from '../../../lib/errors.ts'
import { readLines, writeLine } from './json-lines.ts'
import { failedAnswer } from './socket-answer.ts'
import { listenAt, socketOf } from './socket-place.ts'

/** Processes linked to the owner of a data folder. */
export const ownerLinksMax = 256
/** Open requests of such a process. Further requests wait. */
export const linkRequestsMax = 64

export type OwnerLinks = { close(): Promise<void> }

/** `link`: names the connection. Nothing else is known of it. */
export type LinkHost = {
  /**
   * Resolves with the answer, or rejects with the error to send. The request may be any JSON.
   */
  answer(link: object, request: unknown): Promise<unknown>
  /** The connection has ended. */
  left(link: object): void
}

/**
 * Call it under the lock, with the folder of the sockets made (owner-socket.ts). Throws if the file
 * system has no sockets.
 */
export async function listenForLinks(file: string, host: LinkHost): Promise<OwnerLinks> {
  const path = socketOf(file, 'links')
  rmSync(path, { force: true })
  const links = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => {}) // 'close' follows
    if (links.size >= ownerLinksMax) {
      writeLine(socket, { number: 0, ...failedAnswer(tooMany(file)) })
      socket.resume().end() // unread requests would make its system drop the answer
      return
    }
    links.add(socket)
    serve(socket, host)
    socket.once('close', () => {
      links.delete(socket)
      host.left(socket)
    })
  })
  server.maxConnections = 2 * ownerLinksMax // further ones are closed at once
  server.unref() // it must not keep the process alive; its links do not either
  const removeName = await listenAt(server, path)
  return {
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      for (const socket of links) socket.destroySoon()
      await promise
      removeName()
    },
  }
}

/** A request is open until its answer has left this process. */
function serve(socket: Socket, host: LinkHost): void {
  let open = 0
  socket.unref()
  readLines(socket, (received) => {
    const { number, request } = requestIn(received)
    open += 1
    if (open >= linkRequestsMax) socket.pause()
    void Promise.resolve()
      .then(() => host.answer(socket, request))
      .then((value) => ({ value: value ?? null }), failedAnswer)
      .then((answer) => {
        if (socket.destroyed) return
        writeLine(socket, { number, ...answer }, () => {
          open -= 1
          if (open < linkRequestsMax) socket.resume()
        })
      })
  })
}

/** Throws at anything else: readLines then ends the connection. */
function requestIn(received: unknown): { number: number; request: unknown } {
  if (typeof received === 'object' && received !== null && 'request' in received) {
    const { number, request } = received as { number?: unknown; request: unknown }
    if (typeof number === 'number') return { number, request }
  }
  throw new Error('not a request')
}

function tooMany(file: string): WeirError {
  const why = `${ownerLinksMax} processes already use ${file} next to its owner`
  return new WeirError('bus.full', `${why}: close one of them, then try again`)
}
