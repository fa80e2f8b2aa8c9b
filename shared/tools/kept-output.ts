// Keeps a bounded part of a program's output. The rest is read and dropped, so a flood neither
// blocks the program nor fills the memory.

import type { Readable } from 'node:stream'
import { limits } from '../contract/limits.ts'

/**
 * Bytes of a tool's output that are kept if its agent file sets none: some 8,000 tokens, which each
 * further request of the conversation repeats.
 */
export const outputBytesDefault = 32 * 1024

/** `replaced`: some bytes were not UTF-8 and became U+FFFD. `bytes`: all that arrived. */
export type Output = { text: string; bytes: number; cut: boolean; replaced: boolean }

/** The part of a result's bound for error output and notes. */
const besideBytes = 16 * 1024

/** How many bytes of a tool's output to keep if its agent file sets `configured`. */
export function keptBytes(configured = outputBytesDefault): number {
  return Math.min(configured, limits.resultBytesMax - besideBytes)
}

/** Keeps the first `bytesMax` bytes. Returns a function that reads them. */
export function keepBeginning(stream: Readable, bytesMax: number): () => Output {
  let kept = Buffer.alloc(0)
  let length = 0
  let bytes = 0
  ignoreErrors(stream)
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    const needed = Math.min(length + chunk.length, bytesMax)
    if (needed > kept.length) {
      const larger = Buffer.alloc(Math.min(bytesMax, Math.max(needed, 2 * kept.length)))
      kept.copy(larger, 0, 0, length)
      kept = larger
    }
    length += chunk.copy(kept, length)
  })
  return () => ({ ...decode(kept.subarray(0, length), bytes > length), bytes, cut: bytes > length })
}

/**
 * Keeps the last `bytesMax` bytes. Returns a function that reads them, and clears them on demand.
 */
export function keepEnd(stream: Readable, bytesMax: number): (then?: 'forget') => Output {
  let kept = Buffer.alloc(0)
  let bytes = 0
  ignoreErrors(stream)
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    kept = Buffer.concat([kept, chunk]).subarray(-bytesMax)
  })
  return (then) => {
    const cut = bytes > kept.length
    const output = { ...decode(cut ? fromNextCharacter(kept) : kept, false), bytes, cut }
    if (then === 'forget') [kept, bytes] = [Buffer.alloc(0), 0]
    return output
  }
}

/** A broken pipe counts as ended. The program's exit has the cause. */
function ignoreErrors(stream: Readable): void {
  stream.on('error', () => {})
}

/** `cut`: drops an incomplete last character. */
function decode(bytes: Uint8Array, cut: boolean): { text: string; replaced: boolean } {
  if (bytes.length === 0) return { text: '', replaced: false } // creating a decoder is the most expensive step here
  try {
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
        stream: cut,
      }),
      replaced: false,
    }
  } catch {
    return {
      text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: cut }),
      replaced: true,
    }
  }
}

function fromNextCharacter(bytes: Buffer): Buffer {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.subarray(start)
}
