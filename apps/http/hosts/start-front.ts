// `weir hooks start`: a server for hooks in the background, for plug-ins of hosts. Their first hook of
// a turn calls it when nothing answers.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { stateFolder } from '../../../shared/lib/files/folder-owner.ts'
import { makeFolders } from '../../../shared/lib/files/make-folders.ts'
import { isObject, objectIn } from '../../../shared/lib/json/json-object.ts'
import { printable } from '../../terminal/text/printable.ts'
import { isLoopback } from '../server.ts'
import { baseUrl, serverAt } from './hooks-command.ts'

/** `dataFolder`: of the server. Default: one of this user, outside of every project. */
export type StartOptions = { url: string; dataFolder?: string }

/** A busy machine needs long. The hooks that start a server wait for two minutes. */
const startMs = 60_000
const lookMs = 100
/** Without requests the server ends. The next prompt starts it again. */
const idleHours = '12'

/**
 * Resolves when Weir answers at the URL. Two starts at once end with one server. Throws `usage` for an
 * address of another machine, and `hooks.not-started` with the last lines of the server's log.
 */
export async function startFront(options: StartOptions, out: NodeJS.WriteStream): Promise<0> {
  const base = new URL(baseUrl(options.url))
  if (!isLoopback(base.hostname))
    throw usageError(`--url is ${base.href}; a server starts on this machine only: 127.0.0.1`)
  const asked = `${base.origin}/v1/hooks/claude-code/prompt`
  const found = await serverAt(asked)
  if (found === 'weir') return 0
  if (found !== 'none')
    throw new WeirError(
      'hooks.not-started',
      `another server answers at ${base.origin}${found === 'foreign' ? ', a Weir without the proof of this user' : ''}: end it, or install the hooks with another port (weir hooks install --url)`,
    )
  const dataFolder = options.dataFolder ?? join(stateFolder(), 'weir', 'hooks')
  makeFolders(dataFolder, 0o700)
  const release = claimStart(join(dataFolder, 'starting'))
  try {
    const server = release === undefined ? undefined : startServer(base, dataFolder)
    server?.child.unref() // this command ends before its server, also with an error
    try {
      await answered(asked, server)
    } catch (error) {
      server?.child.kill()
      throw error
    }
  } finally {
    release?.()
  }
  out.write(
    `Weir judges the calls of this host at ${base.origin}. Its log: ${printable(dataFolder)}\n`,
  )
  return 0
}

/** Undefined: another start is at work. Its mark is from a killed process if it is older than a start. */
function claimStart(mark: string): (() => void) | undefined {
  if (existsSync(mark) && systemClock.now() - statSync(mark).mtimeMs > startMs)
    rmSync(mark, { force: true })
  try {
    closeSync(openSync(mark, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  return () => rmSync(mark, { force: true })
}

/** `from`: the end of the log before this start, in characters. */
type Started = { child: ChildProcess; logFile: string; from: number }

function startServer(base: URL, dataFolder: string): Started {
  const logFile = join(dataFolder, 'server.log')
  const log = openSync(logFile, 'a', 0o600) // another server on the folder may write its own lines
  const from = readFileSync(logFile, 'utf8').length
  const flags = ['--front-port', base.port || '80', '--front-host', base.hostname]
  const child = spawn(
    process.execPath,
    [
      ...[...process.execArgv, process.argv[1] ?? '', 'up', ...flags],
      ...['--front-idle-hours', idleHours, '--data-folder', dataFolder],
    ],
    { cwd: dataFolder, detached: true, stdio: ['ignore', log, log] },
  )
  closeSync(log)
  child.on('error', () => {}) // the log stays empty, and nothing answers
  return { child, logFile, from }
}

async function answered(url: string, server: Started | undefined): Promise<void> {
  const deadline = systemClock.monotonic() + startMs
  while ((await serverAt(url)) !== 'weir') {
    const hasEnded = server !== undefined && server.child.exitCode !== null
    if (hasEnded || systemClock.monotonic() >= deadline)
      throw new WeirError(
        'hooks.not-started',
        `the server for hooks did not start: ${server === undefined ? 'another start of it is at work' : reasonIn(server)}`,
      )
    await sleep(lookMs)
  }
}

/** The last error in the log, or its last line. */
function reasonIn({ logFile, from }: Started): string {
  const lines = readFileSync(logFile, 'utf8').slice(from).trim().split('\n')
  const errors = lines.flatMap((line) => {
    const { err } = objectIn(line) ?? {}
    return isObject(err) ? [String(err.message)] : []
  })
  const text = errors.at(-1) ?? lines.at(-1) ?? ''
  return text === '' ? `it printed nothing within ${startMs / 1000} seconds` : printable(text)
}
