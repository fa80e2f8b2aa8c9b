// Decompresses batches of foreign producers, in topics that store them compressed. In topics of the
// plan the brokers decompress. Weir does not compress: its records are small, and
// the broker is near. The result is bounded, so a batch of a few kilobytes cannot fill the memory.

import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { WeirError } from '../../../lib/errors.ts'

/**
 * The limit for one decompressed batch. Brokers accept 1 MiB by default, Weir's topics a little
 * over 10 MiB.
 */
const batchBytesMax = 128 * 1024 * 1024

const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** `codec`: the lowest three bits of the batch attributes. Throws `bus.compression-unreadable`. */
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
        'Weir reads none, gzip and zstd. Set compression.type of the topic to uncompressed, so brokers decompress new batches, and delete this one',
      )
  }
}

function guarded(codec: number, decompress: () => Buffer): Buffer {
  try {
    return decompress()
  } catch (error) {
    throw unreadable(
      codec,
      `it is damaged, or decompresses to more than ${batchBytesMax} bytes`,
      error,
    )
  }
}

function unreadable(codec: number, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'bus.compression-unreadable',
    `cannot read a batch compressed by ${names[codec] ?? `codec ${codec}`}: ${why}`,
    { cause },
  )
}
