// `weir proxy` and `weir serve` as processes of the suite, each with a log in its own folder.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type RunningServer = {
  /** The address without a path. */
  url: string
  folder: string
  child: ChildProcess
  /** A command of Weir on the same log: its output. Rejects if it fails. */
  weir(...args: string[]): Promise<string>
  /** A command that goes on, such as a guard. Resolves once its output has this text. */
  start(text: string, ...args: string[]): Promise<void>
  /** The server's standard error. */
  errors(): string
  /** Ends the processes and keeps the log, for commands that read it. */
  stop(): Promise<void>
  close(): Promise<void>
}

const root = join(import.meta.dirname, '..', '..')
const program = join(root, 'bin', 'weir')

export function startProxy(upstream: string, ...args: string[]): Promise<RunningServer> {
  const command = ['proxy', '--upstream', upstream, '--port', '0', '--json', ...args]
  return started(command, ({ anthropicBaseUrl }) => anthropicBaseUrl)
}

export function startServe(agents: string): Promise<RunningServer> {
  const command = ['serve', '--agents', agents, '--http-port', '0', '--keyless', '--json']
  return started(command, ({ url }) => url)
}

/** `urlIn`: reads the first line. */
async function started(
  command: string[],
  urlIn: (line: Record<string, string>) => string | undefined,
): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-hosts-log-'))
  const children = new Set<ChildProcess>()
  const log = ['--data-folder', folder]
  const run = (...all: string[]) => {
    const child = spawn(program, all, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    return child
  }
  const child = run(...command, ...log)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', () => reject(new Error(`weir ${command[0]} ended: ${errors}`)))
  })
  const url = urlIn(JSON.parse(line) as Record<string, string>) ?? ''
  return {
    url,
    folder,
    child,
    weir: (...command) =>
      new Promise((resolve, reject) => {
        execFile(program, [...command, ...log], { cwd: folder }, (error, out, failure) =>
          error === null ? resolve(out) : reject(new Error(`${failure}\n${out}`)),
        )
      }),
    start(text, ...command) {
      const other = run(...command, ...log)
      let seen = ''
      return new Promise((resolve, reject) => {
        const look = (piece: Buffer) => {
          seen += piece
          if (seen.includes(text)) resolve()
        }
        other.stdout.on('data', look)
        other.stderr.on('data', look)
        other.once('exit', () => reject(new Error(`it ended: ${seen}`)))
      })
    },
    errors: () => errors,
    stop,
    async close() {
      await stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  async function stop(): Promise<void> {
    for (const one of [...children].reverse()) {
      if (one.exitCode !== null || one.signalCode !== null) continue
      const ended = once(one, 'exit')
      one.kill('SIGTERM')
      const late = setTimeout(() => one.kill('SIGKILL'), 15_000)
      await ended
      clearTimeout(late)
    }
  }
}
