// Where the module of a guard is that somebody names on the command line: a file, or the name of
// one that ships with Weir; with its options behind a =.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { approvalGuard } from '../shared/contract/approval-guard.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { nearestName } from '../shared/settings/nearest-name.ts'

/**
 * Each folder with such a file is a guard that ships: TypeScript in a checkout, compiled in the
 * package.
 */
const shippedFolder = fileURLToPath(new URL('../services/guards', import.meta.url))
const shippedFile = `guard${extname(import.meta.url)}`

/** `options`: for the function that the file exports; undefined: none were given. */
export type NamedGuard = { file: string; options: unknown }

/**
 * `given`: FILE or NAME, and with `=OPTIONS` behind it a file of JSON for the function that it
 * exports. Throws `usage` for options that cannot be read, for a name that is a file here as well,
 * and for one that is neither, with the nearest.
 */
export function namedGuard(given: string): NamedGuard {
  const at = existsSync(given) ? -1 : given.lastIndexOf('=')
  if (at < 0) return { file: guardFile(given), options: undefined }
  return { file: guardFile(given.slice(0, at)), options: guardOptions(given.slice(at + 1)) }
}

/** The path of the module. Throws `usage` where the name could mean two, or none. */
export function guardFile(given: string): string {
  const shipped = shippedGuards()
  const isShipped = shipped.includes(given)
  const here = statSync(given, { throwIfNoEntry: false })
  if (isShipped && here?.isFile())
    throw new WeirError(
      'usage',
      `${given} is a file here, and a guard that ships with Weir: give ./${given} for the file, or rename it`,
    )
  if (isShipped) return join(shippedFolder, given, shippedFile)
  if (here?.isFile()) return given
  if (given === approvalGuard)
    throw new WeirError(
      'usage',
      `${approvalGuard} is a stage and no guard to run: put its rules in force with weir approvals rules FILE; weir up, ask and chat run the stage`,
    )
  const isPath = /[./\\]/.test(given)
  const near = nearestFile(given) ?? (isPath ? undefined : nearestName(given, shipped))
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  const what = here?.isDirectory()
    ? `${resolve(given)} is a folder, and a guard is a file`
    : `there is no file ${resolve(given)}`
  const ships = isPath
    ? ''
    : `, and no guard of that name ships with Weir (${shipped.join(', ')} do)`
  throw new WeirError('usage', `${what}${ships}${meant}`)
}

/** Of the modules in the folder where it would be, the one whose name is nearest to it. */
function nearestFile(given: string): string | undefined {
  const folder = dirname(given)
  const modules =
    existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder).filter(isModule) : []
  const near = nearestName(
    isModule(given) ? parse(given).name : basename(given),
    modules.map((file) => parse(file).name),
  )
  const file = modules.find((one) => parse(one).name === near)
  return file === undefined ? undefined : join(folder, file)
}

export const moduleEndings = ['.ts', '.mts', '.js', '.mjs']

/** Declarations are none. */
export function isModule(file: string): boolean {
  return moduleEndings.includes(extname(file)) && !file.endsWith('.d.ts')
}

/** `file`: JSON; undefined: none were given. Throws `usage`. */
export function guardOptions(file: string | undefined): unknown {
  if (file === undefined) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw badOptions(file, error)
  }
}

function badOptions(file: string, cause: unknown): WeirError {
  return new WeirError(
    'usage',
    `the options ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}

function shippedGuards(): string[] {
  return readdirSync(shippedFolder)
    .filter((name) => existsSync(join(shippedFolder, name, shippedFile)))
    .sort()
}
