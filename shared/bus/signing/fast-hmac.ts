// HMAC-SHA-256 (RFC 2104) from one-shot hashes of node:crypto. A `createHmac` object for each record
// takes three times as long, and every record is signed once and checked once.

import { hash } from 'node:crypto'

const blockBytes = 64
const digestBytes = 32

/** Returns the HMAC under this key in base64. The key has at most 64 bytes. */
export type Hmac = (head: string, body: Uint8Array | null) => string

export function hmacOf(key: Uint8Array): Hmac {
  if (key.length > blockBytes)
    throw new RangeError(`a key has ${key.length} bytes, over the limit of 64`)
  const inner = padded(key, 0x36)
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(digestBytes)])
  return (head, body) => {
    const headBytes = Buffer.byteLength(head)
    const text = Buffer.allocUnsafe(blockBytes + headBytes + (body?.byteLength ?? 0))
    text.set(inner)
    text.write(head, blockBytes)
    if (body !== null) text.set(body, blockBytes + headBytes)
    outer.write(hash('sha256', text, 'binary'), blockBytes, 'latin1')
    return hash('sha256', outer, 'base64')
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(blockBytes, pad)
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad
  return block
}
