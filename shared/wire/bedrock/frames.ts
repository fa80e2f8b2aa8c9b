// Frames of AWS's binary streams. AWS's own codec reads and writes them, with both checksums. Keeps
// FRAMING-1.

import { EventStreamCodec } from '@smithy/eventstream-codec'
import { limits } from '../../contract/limits.ts'
import type { Json } from '../format.ts'
import type { EventReader, Framing } from '../framing/framing.ts'
import { type EventData, fault, scalarText } from '../strict/strict.ts'
import { strictObject } from '../strict/strict-json.ts'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text),
)

/** Maps the frames of one stream. An exception has the type `error`. Both throw a StrictFault. */
export type FrameReader = { take(type: string, payload: Json): Json[]; end(): Json[] }

/** `framesOf`: prints an event that is no error and no end mark. */
export function framesWith(
  read: () => FrameReader,
  framesOf: (event: Json) => Uint8Array[],
): Framing {
  return {
    type: 'application/vnd.amazon.eventstream',
    read: () => frameReader(read()),
    print: (events) => Buffer.concat(events.flatMap((event) => printed(event, framesOf))),
  }
}

function frameReader(events: FrameReader): EventReader {
  let pieces: Buffer[] = []
  let size = 0
  /** Pieces join once a frame is whole. So a large frame in small pieces costs no more. */
  let needed = lengthBytes
  return {
    take(piece) {
      pieces.push(piece)
      size += piece.length
      if (size < needed) return []
      let rest = Buffer.concat(pieces)
      const read: EventData[] = []
      for (;;) {
        needed = frameSizeIn(rest) ?? lengthBytes
        if (rest.length < needed || needed === lengthBytes) break
        read.push(...events.take(...eventIn(rest.subarray(0, needed))))
        rest = rest.subarray(needed)
      }
      pieces = [rest]
      size = rest.length
      return read
    },
    end() {
      if (size > 0) throw fault('the answer was cut')
      return events.end()
    },
  }
}

const lengthBytes = 4
const frameBytesMin = 16

/** Undefined: the length is not there yet. */
function frameSizeIn(bytes: Buffer): number | undefined {
  if (bytes.length < lengthBytes) return undefined
  const size = bytes.readUInt32BE(0)
  if (size < frameBytesMin || size > limits.streamEventBytesMax)
    throw fault('a frame of it has a wrong length')
  return size
}

/** The type and the payload. An exception is an event of the type `error`. */
function eventIn(frame: Buffer): [type: string, payload: Json] {
  const decoded = decodedFrame(frame)
  if (decoded === undefined) throw fault('a frame of it is damaged')
  const header = (name: string) => scalarText(decoded.headers[`:${name}`]?.value)
  const body = Buffer.from(decoded.body)
  if (header('message-type') === 'event')
    return [header('event-type'), strictObject(body.toString('utf8'))]
  const payload = body.length === 0 ? {} : strictObject(body.toString('utf8'))
  const type = header('exception-type') || header('error-code')
  return ['error', { type, message: payload.message ?? header('error-message') }]
}

/** Undefined: a checksum is wrong, or a header has no known form. */
function decodedFrame(frame: Buffer): ReturnType<typeof codec.decode> | undefined {
  try {
    return codec.decode(frame)
  } catch {
    return undefined
  }
}

function printed(event: EventData, framesOf: (event: Json) => Uint8Array[]): Uint8Array[] {
  if (event === '[DONE]') return []
  if (event.type !== 'error') return framesOf(event)
  const { type, message } = event.error as Json
  const name = exceptions.test(scalarText(type)) ? scalarText(type) : 'internalServerException'
  return [frame(name, { message }, 'exception')]
}

const exceptions =
  /^(internalServer|modelStreamError|modelTimeout|validation|throttling|serviceUnavailable)Exception$/

/** A frame with one event. */
export function frame(
  name: string,
  payload: Json,
  type: 'event' | 'exception' = 'event',
): Uint8Array {
  const text = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: {
      [`:${type}-type`]: text(name),
      ':content-type': text('application/json'),
      ':message-type': text(type),
    },
    body: Buffer.from(JSON.stringify(payload)),
  })
}
