// The bytes of a provider's answer as text. Bytes that are no UTF-8 end it: a character put in
// their place would be a value that nobody sent, and a call would run with it.

import { isUtf8 } from 'node:buffer'

/** `broken`: the text is what came before bytes that are no UTF-8. */
export type SentText = { text: string; broken: boolean }

/**
 * Wherever the network cuts the bytes, the texts together are the same. `end`: what is left of a
 * character that was cut off.
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

/** Of bytes that are all there. */
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
    // The first byte that cannot go on.
  }
  return { text, broken: true }
}

/** How many of the bytes come before a character that is only begun. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue // inside a character
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
