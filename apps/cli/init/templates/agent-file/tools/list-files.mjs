// A tool as a program. Arguments: JSON on standard input. Result: standard output. Error: a text on
// standard error and an exit code other than 0. WEIR_IDEMPOTENCY_KEY stays the same if the same
// call starts again: pass it to services that must not act twice.

import { readdir, realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { text } from 'node:stream/consumers'

/** The working folder: cwd in agent.yaml. The model may not read outside it. */
const root = await realpath('.')

try {
  const { folder } = JSON.parse(await text(process.stdin))
  const path = await realpath(resolve(root, folder))
  if (!`${path}${sep}`.startsWith(`${root}${sep}`))
    throw new Error(`${folder} is outside of the working folder; give a path below it`)
  const names = await readdir(path)
  const lines = await Promise.all(names.sort().map((name) => lineOf(path, name)))
  console.log(lines.length === 0 ? 'The folder is empty.' : lines.join('\n'))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

async function lineOf(path, name) {
  const found = await stat(join(path, name)).catch(() => undefined)
  if (found === undefined) return `${name} (cannot be read)`
  return found.isDirectory() ? `${name}/` : `${name} ${found.size}`
}
