// The end of each generator: writes its files, or with --check names those that differ.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** `path`: from the root. `text`: the file now, undefined if there is none. */
export type GeneratedFile = { path: string; text: string | undefined; generated: string }

export function writeOrCheck(files: readonly GeneratedFile[]): void {
  const isCheck = process.argv.includes('--check')
  for (const { path, generated } of files.filter(({ text, generated }) => text !== generated)) {
    if (isCheck) {
      process.stderr.write(`${path} differs from its source: run \`make schemas\`\n`)
      process.exitCode = 1
      continue
    }
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), generated)
  }
}
