// A link to the owner of a file, seen from a process next to it (owner-links.ts).
// The end of the owner ends the link at once, and each open request with
// `bus.unreachable`. The owner may have written its records before.
// A hanging owner keeps no request waiting for longer than `linkAnswerMs`.

import type { Socket } from 'node:net'
import type { Clock } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { readLines, writeLine } from './json-lines.ts'
import { type Answer, valueIn } from './socket-answer.ts'
import { connectedToOwner } from './socket-place.ts'

/** How long a request on a link waits for its answer. */
const linkAnswerMs = 30_000

export type OwnerLink = {
  /** The owner's answer. Throws its errors, and a retryable `bus.unreachable`. */
  request(request: unknown): Promise<unknown>
  /** Resolves when the link has ended. */
  ended: Promise<void>
  close(): void
}

/**
 * Undefined if no owner accepts links. Throws `bus.unreachable` if the owner is another user's.
 */
export async function linkToOwner(file: string, clock: Clock): Promise<OwnerLink | undefined> {
  try {
    return linkOn(await connectedToOwner(file, 'links'), file, clock)
  } catch (error) {
    if (error instanceof WeirError && error.retryable) return undefined
    throw error
  }
}

type Open = { resolve(value: unknown): void; reject(error: unknown): void }

function linkOn(socket: Socket, file: string, clock: Clock): OwnerLink {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const open = new Map<number, Open>()
  let refusal: unknown
  let last = 0

  socket.on('error', () => {}) // 'close' follows
  socket.once('close', () => {
    for (const { reject } of open.values()) reject(refusal ?? gone(file))
    open.clear()
    end()
  })
  readLines(socket, (received) => {
    const { number, ...answer } = received as Answer & { number: number }
    if (number === 0) {
      refusal = failureIn(answer) // the owner refuses the link
      socket.destroy()
    }
    const waiting = open.get(number)
    if (waiting === undefined) return
    open.delete(number)
    try {
      waiting.resolve(valueIn(answer))
    } catch (error) {
      waiting.reject(error)
    }
  })

  return {
    async request(request) {
      if (socket.destroyed) throw refusal ?? gone(file)
      last += 1
      const number = last
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      open.set(number, { resolve, reject })
      writeLine(socket, { number, request })
      const stopTimer = clock.after(linkAnswerMs, () => {
        open.delete(number)
        reject(silent(file))
      })
      try {
        return await promise
      } finally {
        stopTimer()
      }
    },
    ended,
    close: () => socket.destroy(),
  }
}

function failureIn(answer: Answer): unknown {
  try {
    return valueIn(answer)
  } catch (error) {
    return error
  }
}

function gone(file: string): WeirError {
  return new WeirError('bus.unreachable', `the process that writes ${file} has ended`, {
    retryable: true,
  })
}

function silent(file: string): WeirError {
  return new WeirError(
    'bus.unreachable',
    `the process that writes ${file} hangs: it gave no answer within ${linkAnswerMs} ms`,
    { retryable: true },
  )
}
