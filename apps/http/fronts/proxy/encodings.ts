// Bodies with a content encoding, whole and bounded (R7).

import { promisify } from 'node:util'
import zlib from 'node:zlib'

const decoders = new Map([
  ['gzip', decoder(zlib.gunzip)],
  ['x-gzip', decoder(zlib.gunzip)],
  ['deflate', decoder(zlib.inflate)],
  ['br', decoder(zlib.brotliDecompress)],
  ['zstd', decoder(zlib.zstdDecompress)],
])

/** Undefined: the encoding is unknown, or the bytes are broken or more than `bytesMax`. */
export async function decoded(
  bytes: Buffer,
  encoding: string | undefined,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return bytes
  return decoders
    .get(name)?.(bytes, bytesMax)
    .catch(() => undefined)
}

type Decode = (
  bytes: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void

function decoder(decode: Decode): (bytes: Buffer, bytesMax: number) => Promise<Buffer> {
  const promised = promisify(decode)
  return (bytes, bytesMax) => promised(bytes, { maxOutputLength: bytesMax })
}
