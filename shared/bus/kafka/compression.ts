// Batches that a foreign producer compressed, in topics that keep them so: those of the plan have
// the brokers unpack them (TOPIC-PLAN-3 of topic-plan.ts). Weir itself writes none: its records are
// small, and the broker is not far. What comes out is bounded: a batch of a few kilobytes may not
// fill the memory.

import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { WeirError } from '../../lib/errors.ts'

/**
 * Of one batch, decompressed. Brokers take batches of 1 MiB by default, Weir's topics little more
 * than 10.
 */
const batchBytesMax = 128 * 1024 * 1024

const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** `codec`: the lowest three bits of a batch's attributes. Throws `bus.compression-unreadable`. */
export function decompressed(bytes: Buffer, codec: number): Buffer {
  switch (codec) {
    case 0:
      return bytes
    case 1:
      return guarded(codec, () => gunzipSync(bytes, { maxOutputLength: batchBytesMax }))
    case 4:
      return guarded(codec, () => zstdDecompressSync(bytes, { maxOutputLength: batchBytesMax }))
    default:
      throw unreadable(
        codec,
        'Weir reads none, gzip and zstd. Set compression.type of the topic to uncompressed, so that brokers unpack what comes, and delete the batch',
      )
  }
}

function guarded(codec: number, decompress: () => Buffer): Buffer {
  try {
    return decompress()
  } catch (error) {
    throw unreadable(codec, `it is damaged, or more than ${batchBytesMax} bytes`, error)
  }
}

function unreadable(codec: number, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'bus.compression-unreadable',
    `a batch is compressed by ${names[codec] ?? `codec ${codec}`}: ${why}`,
    { cause },
  )
}
