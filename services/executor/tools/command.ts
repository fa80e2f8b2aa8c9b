// The tool kind `command`: one program for each call, without a shell. The arguments come to it as
// JSON text on its standard input; what it writes to its standard output is the result, and its
// exit code says whether it worked.
// TOOLS-COMMAND-1. It leads a process group of its own, and is stopped as a tree: asked (SIGTERM),
//     then killed (SIGKILL).
// TOOLS-COMMAND-2. It sees PATH, what the agent file allows it, and its idempotency key; nothing
//     else of our environment, where the keys are.
// TOOLS-COMMAND-3. Memory is bounded whatever it writes, and so is the wait for its end whatever it
//     does.
// TOOLS-COMMAND-4. The end is the exit of the program that was started. What it leaves running in
//     the background may hold its pipes open but not its result.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { CommandTool } from '../../../shared/agents/agents.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { commandEnding, type Exit } from './command-ending.ts'
import { keepBeginning, keepEnd, keptBytes } from './kept-output.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from './tool.ts'
import { type Cause, neverStarted, notStarted } from './tool-endings.ts'
import { groupRuns, signalGroup, visibleEnvironment } from './tool-process.ts'

const KiB = 1024

/** Of the error output, whose end tells most. */
const errorBytesMax = 8 * KiB
/** What is still in the pipes when the program has ended is read within this time. */
const drainMs: Milliseconds = 200
/** A killed program is gone at once, unless it hangs in the kernel. */
const killMs: Milliseconds = 2_000

export const startCommand: StartTool<CommandTool> = (run, call) => {
  try {
    const child = launch(run, call)
    return child.pid === undefined ? failedToStart(run, child) : follow(run, call, child, child.pid)
  } catch (error) {
    return neverStarted(startFault(run, error))
  }
}

function launch(
  { argv, cwd, environment }: CommandTool,
  { idempotencyKey }: ToolCall,
): ChildProcessWithoutNullStreams {
  const [program, ...programArguments] = argv
  const env = { ...visibleEnvironment(environment), WEIR_IDEMPOTENCY_KEY: idempotencyKey }
  return spawn(program, programArguments, { cwd, env, stdio: 'pipe', detached: true })
}

function follow(
  run: CommandTool,
  call: ToolCall,
  child: ChildProcessWithoutNullStreams,
  pid: number,
): RunningTool {
  const { clock } = call
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  const stdout = keepBeginning(child.stdout, keptBytes(run.outputBytesMax))
  const stderr = keepEnd(child.stderr, errorBytesMax)
  const timers: (() => void)[] = []
  const groupIsGone = groupRuns(pid)
  let cause: Cause = { kind: 'itself' }
  let exit: Exit | undefined
  let isOver = false

  child.stdin.on('error', () => {}) // EPIPE: it does not want its arguments; its exit code tells whether that was well
  child.stdin.end(call.arguments)
  child.on('error', () => {}) // it runs, so this is nothing that its exit does not tell better
  child.once('exit', (code, signal) => {
    exit = { code, signal }
    // What outlives its leader goes too, when we ended it. Now, because from here on the group's
    // number may become another's.
    if (cause.kind !== 'itself') signalGroup(pid, 'SIGKILL')
    groupIsGone()
    later(drainMs, () => setImmediate(finish)) // keeps TOOLS-COMMAND-4; not before what has arrived meanwhile is read, where this process was busy for so long
  })
  child.once('close', finish)
  later(call.timeoutMs, () => end({ kind: 'timeout', timeoutMs: call.timeoutMs }, call.graceMs))

  return {
    started: Promise.resolve(true),
    ended,
    stop: (graceMs, why) => end({ kind: 'stop', why }, graceMs),
  }

  /** The first who ends it is the cause; whoever comes later can only make it faster. */
  function end(by: Cause, graceMs: Milliseconds): void {
    if (isOver || exit !== undefined) return
    if (cause.kind === 'itself') cause = by
    if (graceMs <= 0) return kill()
    signalGroup(pid, 'SIGTERM')
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
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    child.unref()
    resolve(commandEnding({ cause, exit, stdout: stdout(), stderr: stderr() }))
  }

  function later(delayMs: Milliseconds, fire: () => void): void {
    timers.push(clock.after(delayMs, fire))
  }
}

/** Node tells why in an event that is still to come. */
function failedToStart(run: CommandTool, child: ChildProcessWithoutNullStreams): RunningTool {
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  child.once('error', (error) => resolve(startFault(run, error)))
  return { started: Promise.resolve(false), ended, stop: () => {} }
}

function startFault({ argv: [program], cwd }: CommandTool, error: unknown): ToolEnding {
  const { code = 'unknown', message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    const fault = `cannot start ${program}: its working folder ${cwd} does not exist; create it, or correct cwd in the agent file`
    return notStarted({ code, what: 'its working folder does not exist', fault })
  }
  if (code === 'ENOENT') {
    const fault = `cannot start ${program}: there is no such program; install it where PATH finds it, or correct its command in the agent file`
    return notStarted({ code, what: 'its program was not found', fault })
  }
  if (code === 'EACCES') {
    const fault = `cannot start ${program}: it must not be executed; set its execute bit, or correct command or cwd in the agent file`
    return notStarted({ code, what: 'its program must not be executed', fault })
  }
  return notStarted({
    code,
    what: 'the system refused',
    fault: `cannot start ${program}: ${message}`,
  })
}
