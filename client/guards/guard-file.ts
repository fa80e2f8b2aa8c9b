// The module of a guard named on the command line: a file, or a guard that ships with Weir. Its
// options follow a =.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { approvalGuard } from '../../shared/contract/guard/approval-guard.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { readJson } from '../../shared/settings/json-file.ts'
import { nearestName } from '../../shared/settings/nearest-name.ts'

/**
 * Each folder with such a file is a guard that ships: TypeScript in a checkout, compiled in the
 * package.
 */
const shippedFolder = fileURLToPath(new URL('../../services/guards', import.meta.url))
const shippedFile = `guard${extname(import.meta.url)}`

const optionsBytesMax = 1024 * 1024

/** `options`: the argument of the function that the file exports. */
export type NamedGuard = { file: string; options: unknown }

/**
 * `given`: FILE or NAME, perhaps with `=OPTIONS`, a file of JSON. Throws `usage` for unreadable
 * options, for a name that is also a file here, and for an unknown name, with the nearest one.
 */
export function namedGuard(given: string): NamedGuard {
  const at = existsSync(given) ? -1 : given.lastIndexOf('=')
  if (at < 0) return { file: guardFile(given), options: undefined }
  return { file: guardFile(given.slice(0, at)), options: guardOptions(given.slice(at + 1)) }
}

/** The path of the module. Throws `usage` for an ambiguous or unknown name. */
export function guardFile(given: string): string {
  const shipped = shippedGuards()
  const isShipped = shipped.includes(given)
  const here = statSync(given, { throwIfNoEntry: false })
  if (isShipped && here?.isFile())
    throw usageError(
      `${given} is a file here and also a guard that ships with Weir: give ./${given} for the file, or rename it`,
    )
  if (isShipped) return join(shippedFolder, given, shippedFile)
  if (here?.isFile()) return given
  if (given === approvalGuard)
    throw usageError(
      `${approvalGuard} is a stage, not a guard to run: set its rules with weir approvals rules FILE; weir up, ask and chat run the stage`,
    )
  const isPath = /[./\\]/.test(given)
  const near = nearestFile(given) ?? (isPath ? undefined : nearestName(given, shipped))
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  const fault = here?.isDirectory()
    ? `${resolve(given)} is a folder; a guard is a file`
    : `there is no file ${resolve(given)}`
  const ships = isPath
    ? ''
    : `, and no guard of that name ships with Weir (${shipped.join(', ')} do)`
  throw usageError(`${fault}${ships}${meant}`)
}

/** The module with the nearest name in the folder of the given path. */
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

/** Type declarations are not modules. */
export function isModule(file: string): boolean {
  return moduleEndings.includes(extname(file)) && !file.endsWith('.d.ts')
}

/** `file`: JSON. Throws `usage`. */
export function guardOptions(file: string | undefined): unknown {
  if (file === undefined) return undefined
  return file === ''
    ? readJson(file, optionsBytesMax, "the file of options after '='")
    : readJson(file, optionsBytesMax, `the file of options ${file}`)
}

function shippedGuards(): string[] {
  return readdirSync(shippedFolder)
    .filter((name) => existsSync(join(shippedFolder, name, shippedFile)))
    .sort()
}
