// The shell command that runs this command line again. Printed commands use it, to work where they
// are pasted.

import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'

/** False: this is the package, which contains JavaScript. */
export const isCheckout = import.meta.filename.endsWith('.ts')

/** The folder of the checkout, or of the installed package. */
export const ownFolder = join(import.meta.dirname, isCheckout ? '../..' : '../../..')

const program = join(ownFolder, isCheckout ? 'bin/weir' : 'bin/weir.js')

/**
 * `weir` if the PATH of a shell leads to it: npx adds folders to it. Otherwise, in a checkout, its path
 * from `folder`, and in a package `npx weir`.
 */
export function ownCommand({ PATH = '' }: NodeJS.ProcessEnv, folder: string): string {
  const found = PATH.split(delimiter)
    .filter((one) => one !== '' && !one.endsWith(join('node_modules', '.bin')))
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
