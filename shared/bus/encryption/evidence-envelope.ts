// The readable form of an encrypted record of evidence that outlives the key of its conversation. The key
// of the tenant encrypts the envelope. In it stand the evidence without its content, and the whole
// evidence, encrypted with the key of the conversation.

import { encode, headerBytes } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import { isEvidence, withoutContent } from '../../contract/audit/link.ts'

/** Instead of the magic byte of the codec's frame. The id of the schema follows as there. */
const envelopeByte = 2
const lengthBytes = 4

type Envelope = { outline: Uint8Array; whole: Uint8Array }

/** `value`: a readable record. Undefined: no evidence, which has no envelope. */
export function envelopeOf(value: Uint8Array, whole: Uint8Array): Buffer | undefined {
  const message = messageOf(value)
  if (!isEvidence(message)) return undefined
  const outline = encode(withoutContent(message))
  const head = Buffer.alloc(headerBytes + lengthBytes)
  head.set(value.subarray(0, headerBytes))
  head[0] = envelopeByte
  head.writeUInt32BE(outline.length, headerBytes)
  return Buffer.concat([head, outline, whole])
}

/** Undefined: no envelope. */
export function envelopeIn(value: Uint8Array | null): Envelope | undefined {
  const begin = headerBytes + lengthBytes
  if (value === null || value[0] !== envelopeByte || value.length < begin) return undefined
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  const end = begin + bytes.readUInt32BE(headerBytes)
  return { outline: value.subarray(begin, end), whole: value.subarray(end) }
}
