// The files of a tool: its program, its script, and the folders that they need. A sandbox shows them
// read-only, and no tool may change those of another.

import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agents, CommandTool, ModuleTool } from '../agents/agents.ts'
import { isExecutable } from '../lib/files/executable.ts'
import { isIn } from '../lib/sandbox/links.ts'
import { protectOwnPath } from '../lib/sandbox/own-paths.ts'
import { isOfSystem, isShared } from '../lib/sandbox/system-paths.ts'

/** Absolute paths. */
export type ToolProgram = { files: string[]; folders: string[] }

/** With the extension of this file: .ts in a checkout, .js in the package. */
const extension = extname(import.meta.filename)
export const moduleChild = fileURLToPath(
  new URL(`module/module-child${extension}`, import.meta.url),
)
export const forwarder = fileURLToPath(
  new URL(`sandbox/sandbox-forwarder${extension}`, import.meta.url),
)

/** Starts a program of Weir. */
export const nodeArgv = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--disable-sigusr1', // a signal would open its debugger
] as const

/** Node.js and the files of Weir that its programs in a sandbox need. */
export const weirRuntime: ToolProgram = {
  files: [process.execPath, ...nearestUpward('package.json', import.meta.dirname)],
  // The programs of the package need no other folder: each is one file.
  folders: [import.meta.dirname, fileURLToPath(new URL('../lib', import.meta.url))].filter(
    existsSync,
  ),
}

/** The files of a tool, as far as they are there. `path`: the folders of programs, as in PATH. */
export function toolProgram(
  run: CommandTool | ModuleTool,
  path = process.env.PATH ?? '',
): ToolProgram {
  if (run.kind === 'module') {
    const own = scriptParts(run.file)
    const all = {
      files: [...weirRuntime.files, ...own.files],
      folders: [...weirRuntime.folders, ...own.folders],
    }
    return { files: all.files.filter(existsSync), folders: all.folders }
  }
  const cwd = resolve(run.cwd ?? '.')
  const [name, ...rest] = run.argv
  const program = programFile(name, cwd, path)
  const parts = program === undefined || isOfSystem(program) ? none : programParts(program)
  const [script, ...others] = rest.flatMap((text) => fileOf(text, cwd) ?? [])
  const own = script === undefined ? none : scriptParts(script)
  return {
    files: [...parts.files, ...own.files, ...others],
    folders: [...parts.folders, ...own.folders],
  }
}

const none: ToolProgram = { files: [], folders: [] }

/** As execvp: a name without a slash is searched in PATH. Undefined: it is not there. */
export function programFile(name: string, cwd: string, path: string): string | undefined {
  if (name.includes('/')) return isExecutable(resolve(cwd, name)) ? resolve(cwd, name) : undefined
  return path
    .split(':')
    .map((folder) => resolve(cwd, folder, name))
    .find(isExecutable)
}

/** An installation has its libraries next to `bin`, as in /home/me/python/bin. */
function programParts(file: string): ToolProgram {
  const folder = dirname(file)
  const around = dirname(folder)
  const isInstallation =
    basename(folder) === 'bin' &&
    existsSync(join(around, 'lib')) &&
    basename(around) !== '.local' &&
    !isShared(around)
  return { files: [file], folders: isInstallation ? [around] : own(folder) }
}

/** The file, its folder, and the packages that Node.js finds from there. */
function scriptParts(file: string): ToolProgram {
  const folder = dirname(file)
  return {
    files: [file, ...nearestUpward('package.json', folder)],
    folders: [...own(folder), ...nearestUpward('node_modules', folder)],
  }
}

/** The first of that name in `start` and the folders above it, as a list of one. */
function nearestUpward(name: string, start: string): string[] {
  for (let folder = start; !isShared(folder); folder = dirname(folder)) {
    const path = join(folder, name)
    if (existsSync(path)) return [path]
  }
  return []
}

function own(folder: string): string[] {
  return isShared(folder) ? [] : [folder]
}

/** An argument that names a file, as a script of an interpreter. */
function fileOf(text: string, cwd: string): string | undefined {
  if (text.startsWith('-') || text.includes('\0')) return undefined
  const file = isAbsolute(text) ? text : resolve(cwd, text)
  if (['/proc', '/sys', '/dev'].some((place) => isIn(file, place))) return undefined
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return undefined // a program's text
    throw error
  }
}

/** Makes the programs of all tools read-only in every sandbox of this process. */
export function protectPrograms(agents: Agents): void {
  const runs = [...agents.values()].flatMap(({ tools }) => tools.map(({ run }) => run))
  for (const run of runs) {
    if (run.kind !== 'command' && run.kind !== 'module') continue
    const { files, folders } = toolProgram(run)
    for (const path of [...files, ...folders]) protectOwnPath(path, 'read-only')
  }
}
