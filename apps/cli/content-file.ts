// A file of the command line that goes to the model: an image, a PDF or a text. Its type is checked
// where the question is (client/turn/question-contents.ts).

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { limits } from '../../shared/contract/limits.ts'
import { usageError } from '../../shared/lib/errors.ts'

/** Reads no more than a content may have. Throws `usage` with the flag and the path. */
export function contentFile(flag: '--image' | '--file', path: string): Uint8Array {
  const file = opened(flag, path)
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw usageError(`${flag}: ${path} is no file: name a file`)
    if (found.size > limits.contentBytesMax)
      throw usageError(
        `${flag}: ${path} has ${found.size} bytes; at most ${limits.contentBytesMax} are sent. Let a tool read larger files`,
      )
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function opened(flag: string, path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw usageError(`${flag}: ${path} cannot be read (${code}): name another file`, { cause })
  }
}
