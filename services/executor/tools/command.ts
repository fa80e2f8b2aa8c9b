// The tool kind `command`: one program for each call, without a shell. It gets the arguments as
// JSON text on its standard input. Its standard output is the result, and its exit code the status.
// TOOLS-COMMAND-1. It leads its own process group and is stopped as a tree: SIGTERM, then SIGKILL.
// TOOLS-COMMAND-2. It sees PATH, the variables that the agent file allows, and its idempotency key.
//     It sees nothing more of our environment, which holds the keys.
// TOOLS-COMMAND-3. Its memory here and the wait for its end are bounded.
// TOOLS-COMMAND-4. The end is the exit of the started program. A background process may hold its
//     pipes open, but not its result.
// TOOLS-COMMAND-5. A tool with a sandbox never runs outside of it. All that it started ends with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve as absolute } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { CommandTool } from '../../../shared/agents/agents.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { type SandboxStatus, sandboxStatus } from '../../../shared/lib/sandbox/status.ts'
import { commandEnding, type Exit } from './command-ending.ts'
import { keepBeginning, keepEnd, keptBytes } from './kept-output.ts'
import { type Bounds, watchBounds } from './sandbox-bounds.ts'
import { proxyEnvironment } from './sandbox-environment.ts'
import { notInSandbox, sandboxed, sandboxFault } from './sandboxed.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from './tool.ts'
import { type Cause, neverStarted, notStarted } from './tool-endings.ts'
import { groupRuns, signalGroup, visibleEnvironment } from './tool-process.ts'
import { programFile } from './tool-program.ts'

const KiB = 1024

/** Of the error output. Its end is the most useful part. */
const errorBytesMax = 8 * KiB
/** How long to read the rest of the pipes after the program has ended. */
const drainMs: Milliseconds = 200
/** A killed program ends at once, unless it hangs in the kernel. */
const killMs: Milliseconds = 2_000

export const startCommand: StartTool<CommandTool> = (run, call) => {
  try {
    const started = launch(run, call)
    const { pid } = started.child
    return pid === undefined ? failedToStart(run, started.child) : follow(run, call, started, pid)
  } catch (error) {
    return neverStarted(sandboxFault(error) ?? startFault(run, error))
  }
}

/** `status`: the tool runs in a sandbox that reports, so SIGTERM goes to the group it names. */
type Started = {
  child: ChildProcess
  stdin: Writable
  stdout: Readable
  stderr: Readable
  status: SandboxStatus | undefined
  bounds: Bounds | undefined
}

const statusFd = 3

function launch(run: CommandTool, { idempotencyKey }: ToolCall): Started {
  const { argv, cwd, environment } = run
  const boxed = sandboxed(run, { argv, statusFd, forwards: 'launcher' })
  if (boxed !== undefined) refuseMissing(run)
  const [program, ...programArguments] = boxed?.argv ?? argv
  const env = {
    ...visibleEnvironment(environment),
    ...(boxed?.usesProxy === true && proxyEnvironment()),
    WEIR_IDEMPOTENCY_KEY: idempotencyKey,
  }
  const reports = boxed?.signals === 'own-session'
  const child = spawn(program, programArguments, {
    ...{ cwd, env, detached: true },
    stdio: ['pipe', 'pipe', 'pipe', ...(reports ? ['pipe' as const] : [])],
  })
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Readable]
  const status = reports ? sandboxStatus(child.stdio[statusFd] as Readable) : undefined
  return { child, stdin, stdout, stderr, status, bounds: boxed?.bounds }
}

/** In a sandbox, the system would report a missing program too late. */
function refuseMissing({ argv: [program], cwd = '.' }: CommandTool): void {
  if (programFile(program, absolute(cwd), process.env.PATH ?? '') === undefined)
    throw Object.assign(new Error(`there is no program ${program}`), { code: 'ENOENT' })
}

function follow(
  run: CommandTool,
  call: ToolCall,
  { child, stdin, status, bounds, ...outputs }: Started,
  pid: number,
): RunningTool {
  const { clock } = call
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  const stdout = keepBeginning(outputs.stdout, keptBytes(run.outputBytesMax))
  const stderr = keepEnd(outputs.stderr, errorBytesMax)
  const timers: (() => void)[] = []
  const groupIsGone = groupRuns(pid)
  let cause: Cause = { kind: 'itself' }
  let exit: Exit | undefined
  let isOver = false

  stdin.on('error', () => {}) // EPIPE: it does not read its arguments; its exit code decides
  stdin.end(call.arguments)
  child.on('error', () => {}) // it runs, so its exit has the better error
  child.once('exit', (code, signal) => {
    exit = { code, signal }
    // If we ended it, kill the rest of its group. Do it now: from here on another process may get
    // the group's number.
    if (cause.kind !== 'itself') signalGroup(pid, 'SIGKILL')
    groupIsGone()
    later(drainMs, () => setImmediate(finish)) // keeps TOOLS-COMMAND-4; setImmediate: first read the output that arrived while this process was busy
  })
  child.once('close', finish)
  if (bounds !== undefined)
    timers.push(watchBounds(pid, bounds, clock, (bound) => end({ kind: 'bound', bound }, 0)))
  later(call.timeoutMs, () => end({ kind: 'timeout', timeoutMs: call.timeoutMs }, call.graceMs))

  return {
    started: Promise.resolve(true),
    ended,
    stop: (graceMs, why) => end({ kind: 'stop', why }, graceMs),
  }

  /** The first cause counts. A later one can only shorten the grace. */
  function end(by: Cause, graceMs: Milliseconds): void {
    if (isOver || exit !== undefined) return
    if (cause.kind === 'itself') cause = by
    if (graceMs <= 0) return kill()
    signalGroup(status?.group() ?? pid, 'SIGTERM')
    later(graceMs, kill)
  }

  function kill(): void {
    if (exit !== undefined) return
    signalGroup(pid, 'SIGKILL')
    later(killMs, finish)
  }

  function finish(): void {
    if (isOver) return
    isOver = true
    for (const cancel of timers) cancel()
    for (const stream of child.stdio) stream?.destroy()
    child.unref()
    const hasRun = status?.hasRun() ?? true
    if (hasRun || cause.kind !== 'itself' || exit?.code == null)
      resolve(commandEnding({ cause, exit, stdout: stdout(), stderr: stderr() }))
    else resolve(notInSandbox(stderr().text.trim()))
  }

  function later(delayMs: Milliseconds, fire: () => void): void {
    timers.push(clock.after(delayMs, fire))
  }
}

/** Node gives the reason in a later event. */
function failedToStart(run: CommandTool, child: ChildProcess): RunningTool {
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  child.once('error', (error) => resolve(startFault(run, error)))
  return { started: Promise.resolve(false), ended, stop: () => {} }
}

function startFault({ argv: [program], cwd }: CommandTool, error: unknown): ToolEnding {
  const { code = 'unknown', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    const fault = `cannot start ${program}: its working folder ${cwd} does not exist; create it, or correct cwd in the agent file`
    return notStarted({ code, event: 'its working folder does not exist', fault })
  }
  if (code === 'ENOENT') {
    const fault = `cannot start ${program}: there is no such program; install it where PATH finds it, or correct its command in the agent file`
    return notStarted({ code, event: 'its program was not found', fault })
  }
  if (code === 'EACCES') {
    const fault = `cannot start ${program}: it must not be executed; set its execute bit, or correct command or cwd in the agent file`
    return notStarted({ code, event: 'its program must not be executed', fault })
  }
  return notStarted({
    code,
    event: 'the system refused',
    fault: `cannot start ${program}: ${message}`,
  })
}
