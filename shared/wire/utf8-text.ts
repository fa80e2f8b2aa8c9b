// Decodes the bytes of a provider's answer. Invalid UTF-8 ends the answer: a replacement character
// would change an argument, and a call would run with it.

import { isUtf8 } from 'node:buffer'

/** `broken`: invalid UTF-8 follows the text. */
export type SentText = { text: string; broken: boolean }

/**
 * Returns the same text wherever the network cuts the bytes. `end` returns a replacement character
 * if the last character is incomplete.
 */
export function textReader(): { take(piece: Uint8Array): SentText; end(): string } {
  let begun: Uint8Array = new Uint8Array()
  return {
    take: (piece) => {
      const bytes = begun.length === 0 ? piece : Buffer.concat([begun, piece])
      const whole = wholeCharacters(bytes)
      begun = bytes.subarray(whole)
      return textOf(bytes.subarray(0, whole))
    },
    end: () => (begun.length === 0 ? '' : '\ufffd'),
  }
}

/** Decodes bytes that are complete. */
export function textOf(bytes: Uint8Array): SentText {
  const { buffer, byteOffset, byteLength } = bytes
  if (isUtf8(bytes))
    return { text: Buffer.from(buffer, byteOffset, byteLength).toString('utf8'), broken: false }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  try {
    for (let at = 0; at < byteLength; at += 1)
      text += decoder.decode(bytes.subarray(at, at + 1), { stream: true })
  } catch {
    // The first invalid byte.
  }
  return { text, broken: true }
}

/** The number of bytes before an incomplete last character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue // inside a character
    return characterLength(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** By the first byte of a character. */
function characterLength(byte: number): number {
  if (byte >= 0xf0) return 4
  if (byte >= 0xe0) return 3
  return byte >= 0xc0 ? 2 : 1
}
