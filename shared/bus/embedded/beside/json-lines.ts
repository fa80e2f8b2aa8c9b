// Lines of JSON on a connection, in both directions.

import type { Socket } from 'node:net'
import { limits } from '../../../contract/limits.ts'

/**
 * Calls `received` for each line. A line that is too long or is no JSON ends the connection: its
 * writer is no Weir. `received` may pause the socket: no further line is read until it resumes.
 */
export function readLines(socket: Socket, received: (value: unknown) => void): void {
  let parts: Buffer[] = []
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at))
      from = at + 1
      const line = Buffer.concat(parts)
      parts = []
      bytes = 0
      try {
        received(JSON.parse(line.toString()))
      } catch {
        socket.destroy()
      }
      if (socket.destroyed) return
      if (socket.isPaused()) {
        if (from < chunk.length) socket.unshift(chunk.subarray(from)) // read again after the pause
        return
      }
    }
    const rest = chunk.subarray(from)
    bytes += rest.length
    if (bytes > limits.outsideRequestBytesMax) socket.destroy()
    else if (rest.length > 0) parts.push(rest)
  })
}

/** `written`: the other side's system has it, or the connection has ended. */
export function writeLine(socket: Socket, value: unknown, written?: () => void): void {
  socket.write(`${JSON.stringify(value)}\n`, () => written?.())
}
