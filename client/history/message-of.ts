// Decodes a record's message, for commands that read a log with any content.

import { decode } from '../../shared/codec/codec.ts'
import type { Message } from '../../shared/contract/messages.ts'

/** Undefined: a tombstone, or bytes that this Weir cannot decode. */
export function messageOf(value: Uint8Array | null): Message | undefined {
  if (value === null) return undefined
  try {
    return decode(value)
  } catch {
    return undefined
  }
}
