// The folders that a guard's process reads to load: the code of Weir, the guard and their packages.

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * `file`: the guard's file. Its package, or its folder if it has no package, and each node_modules
 * in which Node.js looks for its imports. Linked packages in there count, such as those of a
 * workspace. No folder contains another one.
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

/** Also false for a broken link. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
