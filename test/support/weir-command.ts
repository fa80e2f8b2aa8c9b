// `weir` as a process, as a user runs it in a shell: an agent file in a folder, a scripted model
// over real HTTP, and the outputs.

import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from '@jest/globals'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { environmentOf, weirCommand } from './programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const recordedTool = join(root, 'test', 'support', 'tools', 'recorded.mjs')

/** A time limit of a tool or a guard that a test must not reach, also on a busy machine. */
export const patientMs = 600_000

export type Ended = {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  errors: string
}

export type RunningWeir = {
  child: ChildProcessWithoutNullStreams
  /**
   * Resolves when standard error (or on a terminal: the screen) has this text, after the texts of
   * earlier calls. Rejects when the process ends without it.
   */
  shows(text: string): Promise<void>
  ended: Promise<Ended>
}

/**
 * `input`: the piped input; by default standard input is empty. `fileSizeMax`: the largest size of a
 * file in bytes. Beyond it, writes fail as on a full disk.
 */
type StartOptions = {
  input?: string | Uint8Array
  environment?: Record<string, string>
  fileSizeMax?: number
  program?: string | undefined
}

export type CommandFolder = {
  folder: string
  server: AnthropicServer
  /** Starts `weir ARGUMENTS` in the folder. */
  start(args: string[], options?: StartOptions): RunningWeir
  /**
   * Starts it on a terminal of 80 columns, if the machine has util-linux's script. Typed text goes to
   * `child.stdin`.
   */
  startOnTerminal(args: string[], environment?: Record<string, string>): RunningWeir
  run(args: string[], options?: Omit<StartOptions, 'fileSizeMax'>): Promise<Ended>
  close(): Promise<void>
}

/**
 * `toolMs`: the time limit of `act` and `exec`. If a process dies while it runs such a call, the call waits so
 * long.
 */
type FolderOptions = { toolMs?: number }

/**
 * A folder with `agent.yaml`: the tools `act` (any arguments), `exec` (requires a command) and
 * `stubborn` (ignores SIGTERM, and writes its process id to `stubborn-pid`).
 */
export async function openCommandFolder(
  model: (call: ModelCall, number: number) => Reply | Promise<Reply>,
  { toolMs = 30_000 }: FolderOptions = {},
): Promise<CommandFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-command-'))
  const server = await startAnthropicServer(model)
  const node = JSON.stringify(process.execPath)
  const tool = (name: string) =>
    `timeoutMs: ${toolMs}, command: [${node}, ${JSON.stringify(recordedTool)}, ${name}, starts]`
  await writeFile(
    join(folder, 'agent.yaml'),
    `system: You are under test.
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
fallback: This is the fallback.
graceMs: 2000
tools:
  - { name: act, description: does what it is told, schema: { type: object }, cwd: ., ${tool('act')} }
  - { name: exec, description: runs a command, schema: { type: object, properties: { command: { type: string } }, required: [command] }, cwd: ., ${tool('exec')} }
  - { name: stubborn, description: takes ten seconds, schema: { type: object }, cwd: ., command: [sh, -c, "trap '' TERM; echo $$ > stubborn-pid; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done"] }
`,
  )

  const children = new Set<ChildProcessWithoutNullStreams>()
  const kept = (child: ChildProcessWithoutNullStreams) => {
    children.add(child)
    child.on('exit', () => children.delete(child))
    return child
  }

  function start(
    args: string[],
    { input = '', environment = {}, fileSizeMax, program = weirCommand }: StartOptions = {},
  ) {
    const [command, ...rest] =
      fileSizeMax === undefined ? [program, ...args] : limited(fileSizeMax, [program, ...args])
    const child = kept(
      spawn(command, rest, { cwd: folder, env: environmentOf(environment), stdio: 'pipe' }),
    )
    child.stdin.on('error', () => {}) // it may refuse to read all of it
    child.stdin.end(input)
    return watch(child, child.stderr)
  }

  return {
    folder,
    server,
    start,
    run: (args, options) => start(args, options).ended,
    startOnTerminal(args, environment = {}) {
      const command = [weirCommand, ...args].map((word) => `'${word}'`).join(' ')
      const shell = `stty cols 80 rows 30; exec ${command}`
      const env = { ...environmentOf(environment), TERM: 'xterm', SHELL: '/bin/sh' }
      const child = kept(
        spawn('script', ['-qefc', shell, '/dev/null'], { cwd: folder, env, stdio: 'pipe' }),
      )
      return watch(child, child.stdout)
    },
    async close() {
      for (const child of children) child.kill('SIGKILL') // a test that failed may leave one
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** POSIX counts blocks of 512 bytes. */
function limited(fileSizeMax: number, command: [string, ...string[]]): [string, ...string[]] {
  return [
    'sh',
    '-c',
    'ulimit -f "$1"; shift; exec "$@"',
    'sh',
    `${Math.floor(fileSizeMax / 512)}`,
    ...command,
  ]
}

function watch(child: ChildProcessWithoutNullStreams, watched: NodeJS.ReadableStream): RunningWeir {
  let out = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, out, errors }))
  })
  let from = 0
  return {
    child,
    ended,
    shows(text) {
      const seen = (): boolean => {
        const at = (watched === child.stdout ? out : errors).indexOf(text, from)
        if (at >= 0) from = at + text.length
        return at >= 0
      }
      return new Promise((resolve, reject) => {
        const resolveIfSeen = (): void => {
          if (!seen()) return
          watched.off('data', resolveIfSeen)
          resolve()
        }
        watched.on('data', resolveIfSeen)
        resolveIfSeen()
        ended.then(
          () => reject(new Error(`it ended without ${JSON.stringify(text)}: ${out}\n${errors}`)),
          reject,
        )
      })
    },
  }
}

/** Skips these tests, visibly, on a machine without terminals. */
export const onTerminals = hasScript() ? describe : describe.skip

function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
}
