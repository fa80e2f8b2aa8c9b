// Starts this command again, as the same process, with an environment that holds no secrets. Every
// process of the same user can read the environment with which another one started
// (/proc/PID/environ), and so could each tool. The values pass through a file that only this user
// can read, in memory where the machine allows it, and the second start removes it at once.
// The command sees the same variables as without this. Only the operating
// system's copy lacks them.
// It holds for every command. A list of commands would miss the next one that
// starts a program.

import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isHarmless } from '../../shared/lib/sandbox/harmless-variables.ts'

const carrier = 'WEIR_ENVIRONMENT'
/** Node reads these while it starts. */
const proxies = /^(HTTPS?|NO)_PROXY$/i

/**
 * Returns in the process with the clean environment. Also returns if nothing is to be hidden, or, with
 * a warning, if the file cannot be written.
 */
export function cleanEnvironment(): void {
  const [, script = ''] = process.argv
  if (process.env[carrier] !== undefined) restore(process.env[carrier])
  else startAgain(script)
}

function startAgain(script: string): void {
  const names = Object.keys(process.env)
  const hidden = names.filter((name) => !isHarmless(name) && !isPlainProxy(name))
  // With a channel to a parent, the new image would lose it.
  if (hidden.length === 0 || process.connected || typeof process.execve !== 'function') return
  const kept = names.filter((name) => !hidden.includes(name))
  const environment = Object.fromEntries(kept.map((name) => [name, process.env[name]]))
  const flags = process.execArgv.includes('--disable-sigusr1')
    ? process.execArgv
    : [...process.execArgv, '--disable-sigusr1']
  const values = Object.fromEntries(hidden.map((name) => [name, process.env[name]]))
  try {
    process.execve(
      process.execPath,
      [process.execPath, ...flags, script, ...process.argv.slice(2)],
      {
        ...environment,
        [carrier]: written(JSON.stringify(values)),
      },
    )
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    console.error(
      `weir: the environment cannot be hidden from tools (${code}): make room in ${folder()}`,
    )
  }
}

/** A proxy without a user name and a password. */
function isPlainProxy(name: string): boolean {
  return proxies.test(name) && process.env[name]?.includes('@') === false
}

/** The path of a file with this text in a folder for this user only. */
function written(text: string): string {
  const file = join(mkdtempSync(join(folder(), 'weir-')), 'environment')
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** Linux has this folder in memory. */
function folder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}

function restore(file: string): void {
  delete process.env[carrier]
  try {
    Object.assign(process.env, JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    const { code = 'not JSON' } = error as NodeJS.ErrnoException
    console.error(`weir: ${carrier} names no file of this command (${code}): unset the variable`)
    process.exit(2)
  }
  rmSync(dirname(file), { recursive: true })
}
