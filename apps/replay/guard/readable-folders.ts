// The folders that a guard's process reads to load: the code of Weir, the guard and their packages.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * `file`: the guard's. Its package, or the folder that it lies in where it is of none; and each
 * node_modules in which Node looks for what it imports, with the packages that are links in there,
 * as those of a workspace are. None lies in another one.
 */
export function readableFolders(file: string): string[] {
  const given = resolve(file)
  const files = [import.meta.filename, given, real(given)]
  const folders = files.flatMap((one) => [
    packageOf(one),
    ...packagesFor(one).flatMap((folder) => [folder, real(folder), ...linkedIn(folder)]),
  ])
  const named = [...new Set(folders.map((folder) => join(folder, sep)))]
  return named.filter((one) => !named.some((other) => one !== other && one.startsWith(other)))
}

/**
 * Links are followed before a module is loaded. A file that is not there is for the loader to
 * report.
 */
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

/** Where the links to folders lead that are directly in a node_modules, or in a scope of it. */
function linkedIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return isFolder(path) ? [real(path)] : []
    return entry.name.startsWith('@') && entry.isDirectory() ? linkedIn(path) : []
  })
}

/** False of a link that leads nowhere, too. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
