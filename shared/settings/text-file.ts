// Reads a text file that a person wrote: a regular file of bounded size, in UTF-8.

import { readFileSync, statSync } from 'node:fs'

/** `fault` completes the file's name to a sentence. `line`: of the first byte that is not UTF-8. */
export type TextFile = { text: string } | { fault: string; line: number }

/** Drops a byte order mark. Never throws. */
export function readText(file: string, bytesMax: number): TextFile {
  let bytes: Buffer
  try {
    const stat = statSync(file)
    // Opening a named pipe would wait for ever.
    if (!stat.isFile())
      return {
        fault: stat.isDirectory() ? 'is a folder; must be a file' : 'is not a regular file',
        line: 1,
      }
    if (stat.size > bytesMax) return tooLarge(stat.size, bytesMax)
    bytes = readFileSync(file)
  } catch (error) {
    return { fault: unreadable(error), line: 1 }
  }
  if (bytes.length > bytesMax) return tooLarge(bytes.length, bytesMax)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { fault: 'is not UTF-8; save it as UTF-8', line: firstBadLine(bytes) }
  }
}

/** The reason of a failed read, as the end of a sentence. */
export function unreadable(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  return code === 'EACCES' ? 'must not be read by this user (EACCES)' : `cannot be read (${code})`
}

function tooLarge(bytes: number, bytesMax: number): TextFile {
  return { fault: `has ${bytes} bytes; must have at most ${bytesMax}`, line: 1 }
}

/** Decoding replaces bad bytes, so encoding the result differs from there on. */
function firstBadLine(bytes: Buffer): number {
  const replaced = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const at = bytes.findIndex((byte, index) => byte !== replaced[index])
  return bytes.subarray(0, at).reduce((lines, byte) => lines + (byte === 0x0a ? 1 : 0), 1)
}
