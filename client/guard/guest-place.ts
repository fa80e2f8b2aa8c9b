// The place of a guest's file.

import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseGuestName } from './guest-agent.ts'

const folder = 'agents'
const endings = ['.yaml', '.yml', '.json']

/**
 * `given`: a path, or a name. `file` undefined: the guest has none. `name` undefined: the file says it.
 * Throws `agent.invalid`.
 */
export function fileOfGuest(given: string): { file: string | undefined; name: string | undefined } {
  if (endings.includes(extname(given))) return { file: given, name: undefined }
  const name = parseGuestName(given)
  const paths = endings.map((ending) => join(folder, `${name}${ending}`))
  return { file: paths.find((path) => existsSync(path)), name }
}
