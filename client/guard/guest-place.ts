// The place of a guest's file.

import { existsSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { parseGuestName } from './guest-agent.ts'

const endings = ['.yaml', '.yml', '.json']

/** `file` undefined: the guest has none. `isFound`: nothing names the file. */
export type GuestPlace = { file: string | undefined; name: string | undefined; isFound: boolean }

/**
 * `given`: a path, or a name. Of a name it is the file in WEIR_AGENTS, and without a file or folder there one
 * that was only found in the folder `agents`. `name` undefined: the file says it. Throws `agent.invalid`.
 */
export function fileOfGuest(given: string, environment = process.env): GuestPlace {
  if (endings.includes(extname(given))) return { file: given, name: undefined, isFound: false }
  const name = parseGuestName(given)
  const variable = environment.WEIR_AGENTS ?? ''
  const named = /\.m?[jt]s$/.test(variable) ? '' : variable // a module of weir serve has no guests
  const paths = endings.includes(extname(named))
    ? [named].filter((path) => basename(path, extname(path)) === name)
    : endings.map((ending) => join(named || 'agents', `${name}${ending}`))
  return { file: paths.find((path) => existsSync(path)), name, isFound: named === '' }
}

/** A warning if WEIR_AGENTS names another place than `agents`, where the process found its agent files. */
export function otherPlaceThan(agents: string, environment = process.env): string | undefined {
  const variable = environment.WEIR_AGENTS ?? ''
  if (agents === '' || variable === '' || resolve(variable) === resolve(agents)) return undefined
  return `the agent files are in ${agents}, and WEIR_AGENTS names ${variable}: a guest without a file in the former has its file in the latter`
}
