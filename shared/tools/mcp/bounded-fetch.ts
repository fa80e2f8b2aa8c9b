// The HTTP requests to an MCP server. The SDK keeps each answer whole, so it is bounded here.
// An answer, and an event of a stream, has at most `limits.mcpMessageBytesMax` bytes
// and `limits.jsonDepthMax` levels. A server that sends more breaks its answer.

import type { FetchLike } from '@modelcontextprotocol/client'
import { limits } from '../../contract/limits.ts'
import { unit } from '../../lib/json/tokens.ts'

/** HTTP requests to an MCP server that it has not begun to answer. */
export const mcpRequestsMax = 256

/** `onBytes` gets the size of each piece of an answer. */
export function boundedFetch(onBytes: (bytes: number) => void): FetchLike {
  let waiting = 0
  return async (url, init) => {
    if (waiting >= mcpRequestsMax)
      throw new Error(`the server left ${mcpRequestsMax} requests without an answer`)
    waiting += 1
    const response = await fetch(url, init).finally(() => {
      waiting -= 1
    })
    const { body, status, statusText, headers } = response
    if (body === null) return response
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
    const check = answerCheck(isStream)
    const bounded = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        onBytes(piece.length)
        check(piece)
        controller.enqueue(piece)
      },
    })
    return new Response(body.pipeThrough(bounded), { status, statusText, headers })
  }
}

const { closeBrace, closeBracket, openBrace, openBracket, quote } = unit
const [lineFeed, carriageReturn, backslash] = [0x0a, 0x0d, 0x5c]

/** Takes the pieces of an answer in order. Throws:. */
export function answerCheck(isStream: boolean): (piece: Uint8Array) => void {
  let state: State = { bytes: 0, depth: 0, isText: false, isEscaped: false, line: 'empty' }
  return (piece) => {
    state = after(state, piece, isStream)
  }
}

/** `line`: `ended` after a carriage return, which a line feed may follow. */
type State = {
  bytes: number
  depth: number
  isText: boolean
  isEscaped: boolean
  line: 'empty' | 'ended' | 'open'
}

/** One loop over local variables: an answer can have millions of bytes. */
function after(
  { bytes, depth, isText, isEscaped, line }: State,
  piece: Uint8Array,
  isStream: boolean,
): State {
  for (const byte of piece) {
    bytes += 1
    if (byte === lineFeed && line === 'ended') line = 'empty'
    else if (byte === lineFeed || byte === carriageReturn) {
      if (isStream && line !== 'open') bytes = depth = 0 // an empty line ends an event
      isText = isEscaped = false // a text of JSON ends before its line does
      line = byte === lineFeed ? 'empty' : 'ended'
    } else {
      line = 'open'
      if (isText && isEscaped) isEscaped = false
      else if (isText && byte === backslash) isEscaped = true
      else if (byte === quote) isText = !isText
      else if (isText) continue
      else if (byte === openBrace || byte === openBracket) depth += 1
      else if (byte === closeBrace || byte === closeBracket) depth = Math.max(0, depth - 1)
    }
    if (depth > limits.jsonDepthMax)
      throw new Error(`an answer nests deeper than ${limits.jsonDepthMax} levels`)
  }
  if (bytes > limits.mcpMessageBytesMax)
    throw new Error(`an answer has more than ${limits.mcpMessageBytesMax} bytes`)
  return { bytes, depth, isText, isEscaped, line }
}
