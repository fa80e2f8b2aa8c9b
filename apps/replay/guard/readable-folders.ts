// The folders and files that a guard's process reads to load: the code of Weir, the guard, their
// packages, and the files that its options name.

import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, extname, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isFolder } from '../../../shared/lib/files/make-folders.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'

/** Next to this file, with its extension: TypeScript in a checkout, JavaScript in the package. */
export const guardChild = fileURLToPath(
  new URL(`guard-child${extname(import.meta.filename)}`, import.meta.url),
)

/**
 * `file`: the guard's file. The guard's package, or folder without a package, and each node_modules
 * in which Node.js looks for the imports. Linked packages in there count, such as those of a
 * workspace. No folder contains another one.
 */
export function readableFolders(file: string): string[] {
  const given = resolve(file)
  const files = [guardChild, given, real(given)]
  const folders = files.flatMap((one) => [
    packageOf(one),
    ...packagesFor(one).flatMap((folder) => [folder, real(folder), ...linkedIn(folder)]),
  ])
  const named = [...new Set(folders.map((folder) => join(folder, sep)))]
  return named.filter((one) => !named.some((other) => one !== other && one.startsWith(other)))
}

/**
 * The options with whole paths in place of relative ones, and the files that they name: each text
 * under a key that ends with `File`. The loader reports a missing file.
 */
export function withWholePaths(options: unknown): { options: unknown; files: string[] } {
  if (!isObject(options)) return { options, files: [] }
  const paths = Object.entries(options).flatMap(([key, value]) =>
    key.endsWith('File') && typeof value === 'string' && existsSync(value)
      ? [[key, realpathSync(value)] as const]
      : [],
  )
  return {
    options: { ...options, ...Object.fromEntries(paths) },
    files: paths.map(([, path]) => path),
  }
}

/** Node.js resolves links before it loads a module. The loader reports a missing file. */
function real(file: string): string {
  return existsSync(file) ? realpathSync(file) : file
}

function packageOf(file: string): string {
  const found = existsSync(file) ? findPackageJSON(pathToFileURL(file)) : undefined
  return dirname(found ?? file)
}

function packagesFor(file: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules'))
    if (folder === dirname(folder)) return folders.filter((one) => existsSync(one))
  }
}

/** The targets of links to folders, directly in a node_modules or in a scope of it. */
function linkedIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return isFolder(path) ? [real(path)] : []
    return entry.name.startsWith('@') && entry.isDirectory() ? linkedIn(path) : []
  })
}
