// What somebody writes at a shell to run this very command line once more, so that commands that
// are printed work where they are pasted.

import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'

/** The package has JavaScript. */
export const isCheckout = import.meta.filename.endsWith('.ts')

const program = join(
  import.meta.dirname,
  ...(isCheckout ? ['../..', 'bin/weir'] : ['../../..', 'bin/weir.js']),
)

/**
 * `weir` where the PATH leads to it; else, of a checkout, its path from `folder`, and of a package
 * npx.
 */
export function ownCommand({ PATH = '' }: NodeJS.ProcessEnv, folder: string): string {
  const found = PATH.split(delimiter)
    .filter((one) => one !== '')
    .map((one) => join(one, 'weir'))
    .find((one) => existsSync(one))
  if (found !== undefined && realpathSync(found) === realpathSync(program)) return 'weir'
  if (!isCheckout) return 'npx weir'
  const path = relative(folder, program)
  return shellWord(path.startsWith(join('..', '..')) ? program : path)
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
