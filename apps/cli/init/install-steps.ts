// The commands that install the packages of a new TypeScript project. They install Weir from the
// source of this one: the registry, a file, or the file that its checkout makes.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '../../../shared/lib/version.ts'
import { isCheckout, shellWord } from '../../terminal/own-command.ts'

const root = fileURLToPath(new URL(isCheckout ? '../../..' : '../../../..', import.meta.url))

/** `folder`: of the project, absolute. The commands work there. */
export function installSteps(folder: string): string[] {
  return stepsFrom(folder, { root, isCheckout, version: version() })
}

/** `root`: the folder of this Weir, with its package.json. */
export function stepsFrom(
  folder: string,
  weir: { root: string; isCheckout: boolean; version: string },
): string[] {
  const file = `weir-agents-${weir.version}.tgz`
  if (weir.isCheckout) {
    const checkout = near(folder, resolve(weir.root))
    return [`make -C ${checkout} package`, `npm install ${join(checkout, 'out', file)}`]
  }
  const source = sourceOf(resolve(weir.root))
  if (source === 'registry') return ['npm install']
  return source === undefined
    ? [`npm install PATH/${file}   # the file that make package writes in a checkout of Weir`]
    : [`npm install ${near(folder, source)}`]
}

/**
 * The file or folder from which npm installed the package at `root`, as npm noted it. Undefined: the
 * note is not there, or the file is not.
 */
function sourceOf(root: string): string | 'registry' | undefined {
  const modules = dirname(root)
  try {
    const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'))
    const resolved: unknown = lock.packages?.['node_modules/weir-agents']?.resolved
    if (typeof resolved !== 'string') return undefined
    if (!resolved.startsWith('file:')) return 'registry'
    const source = resolve(dirname(modules), resolved.slice('file:'.length))
    return existsSync(source) ? source : undefined
  } catch {
    return undefined
  }
}

/** A path, quoted for a shell: from `folder` if it is close, otherwise absolute. */
function near(folder: string, path: string): string {
  const way = relative(folder, path)
  return shellWord(way.startsWith(join('..', '..', '..')) ? path : way)
}
