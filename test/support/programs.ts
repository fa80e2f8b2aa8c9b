// The programs that tests start, as the npm package has them: the command of Weir, and programs of
// tests. They need a third of the CPU time that the sources need, so a run starts hundreds in less time.
// PROGRAMS-1. The name of their folder is a hash of all files that they are made of. A change of one
//     file names another folder, so no stale program starts. A change while they are made is an error.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { harmlessEnvironment } from '../../shared/lib/sandbox/harmless-variables.ts'
import { compiled } from './compiled.ts'
import { contentHash } from './program-sources.ts'

const root = join(import.meta.dirname, '..', '..')

const folder = made(join(root, 'node_modules', '.cache', 'weir-programs', contentHash(root)))

/** The command of the checkout, which runs the sources. */
export const checkoutCommand = join(root, 'bin', 'weir')

/** The path of the command `weir`. */
export const weirCommand = join(folder, 'weir')

/**
 * The environment of a command: the machine's variables without secrets, Weir's and Node's, and `more`. With
 * any other variable the command would start Node a second time, to hide it from tools.
 */
export function environmentOf(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(harmlessEnvironment()).filter(
    ([name]) => !/^(CI$|WEIR_|NO_COLOR|FORCE_COLOR|NODE_)/.test(name),
  )
  return { ...Object.fromEntries(kept), ...compiled, ...more }
}

/** For the environment of the processes of Weir below: the code of the programs, compiled. */
export const compiledPrograms = { NODE_COMPILE_CACHE: join(folder, 'compiled') }

export const weirProcess = join(folder, 'dist', 'test', 'support', 'weir-process.js')

/** The MCP server of tests. */
export const mcpServerProcess = join(
  folder,
  ...['dist', 'test', 'support', 'mcp', 'server-process.js'],
)

export const sharingProcess = join(folder, 'dist', 'test', 'support', 'sharing-process.js')

function made(target: string): string {
  const make = join(import.meta.dirname, 'make-programs.ts')
  if (!existsSync(target))
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', make, target], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return target
}
