// Decodes a record's message, for commands that read a log with any content.

import type { Message } from '../contract/messages.ts'
import { decode, encode } from './codec.ts'

/** Undefined: no record, a tombstone, or bytes that this Weir cannot decode. */
export function messageOf(value: Uint8Array | null | undefined): Message | undefined {
  if (value == null) return undefined
  try {
    return decode(value)
  } catch {
    return undefined
  }
}

/** Reads and writes the records in dead letters. */
export const letterCodec = { messageOf, encode }
export type LetterCodec = typeof letterCodec
