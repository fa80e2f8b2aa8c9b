// A tool as a module: Weir calls its default export with the arguments. The model gets the return
// value as the result, or the thrown error. `idempotencyKey` stays the same if the same call is
// made again. `signal` aborts at the timeout and when the turn is cancelled.

import { readFile, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

/** The working folder: cwd in agent.yaml. The model may not read outside it. */
const root = await realpath('.')

export default async function readLines({ file, lines = 200 }, { signal }) {
  const path = await realpath(resolve(root, file))
  if (!path.startsWith(`${root}${sep}`))
    throw new Error(`${file} is outside of the working folder; give a path below it`)
  const all = (await readFile(path, { encoding: 'utf8', signal })).split('\n')
  const shown = all.slice(0, lines).join('\n')
  return all.length > lines ? `${shown}\n(${all.length - lines} more lines)` : shown
}
