// Runs the program of a command tool, from its start to its end. A launch is plain data, because the
// process that runs it may be another one (kept/keeper-child.ts).
// It leads its own process group and is stopped as a tree: SIGTERM, then SIGKILL.
// Its memory here and the wait for its end are bounded.
// The end is the exit of the started program. A background process may hold its
// pipes open, but not its result.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Milliseconds } from '../../lib/clock.ts'
import { withoutInherited } from '../../lib/sandbox/inherited-descriptors.ts'
import { type SandboxStatus, sandboxStatus } from '../../lib/sandbox/status.ts'
import { keepBeginning, keepEnd, keptBytes } from '../kept-output.ts'
import { type Bounds, watchBounds } from '../sandbox/sandbox-bounds.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../tool.ts'
import { type Cause, neverStarted, notInSandbox } from '../tool-endings.ts'
import { groupRuns, signalGroup } from '../tool-process.ts'
import { commandEnding, type Exit } from './command-ending.ts'
import { startFault } from './start-fault.ts'

const KiB = 1024

/** Of the error output. Its end is the most useful part. */
const errorBytesMax = 8 * KiB
/** How long to read the rest of the pipes after the program has ended. */
const drainMs: Milliseconds = 200
/** A killed program ends at once, unless it hangs in the kernel. */
const killMs: Milliseconds = 2_000

export type CommandLaunch = {
  /** With the sandbox around the program. */
  argv: readonly [string, ...string[]]
  cwd?: string | undefined
  /** All variables that the program sees. */
  env: NodeJS.ProcessEnv
  /** As the agent file names it, for the operator. */
  program: string
  /** Of its sandbox, which writes status lines to `statusFd`. Undefined: it has no sandbox. */
  bounds?: Bounds | undefined
  outputBytesMax?: number | undefined
}

export const statusFd = 3

/** `pid`: the leader of its process group. Undefined: it could not be started. */
export type RunningCommand = RunningTool & { pid?: number }

export type CommandCall = Pick<ToolCall, 'arguments' | 'timeoutMs' | 'graceMs' | 'clock'>

/** Starts the program in this process. */
export function runCommand(launch: CommandLaunch, call: CommandCall): RunningCommand {
  try {
    const started = spawned(launch)
    const { pid } = started.child
    return pid === undefined
      ? failedToStart(launch, started.child)
      : { pid, ...follow(launch, call, started, pid) }
  } catch (error) {
    return neverStarted(startFault(launch, error))
  }
}

/** `status`: of a sandbox. SIGTERM goes to the group that it names. */
type Started = {
  child: ChildProcess
  stdin: Writable
  stdout: Readable
  stderr: Readable
  status: SandboxStatus | undefined
}

function spawned({ argv, cwd, env, bounds }: CommandLaunch): Started {
  const [program, ...programArguments] = argv
  const child = spawn(program, programArguments, {
    cwd,
    env,
    detached: true,
    stdio: withoutInherited(['pipe', 'pipe', 'pipe', ...(bounds ? ['pipe' as const] : [])]),
  })
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Readable]
  const status = bounds ? sandboxStatus(child.stdio[statusFd] as Readable) : undefined
  return { child, stdin, stdout, stderr, status }
}

function follow(
  { outputBytesMax, bounds }: CommandLaunch,
  call: CommandCall,
  { child, stdin, status, ...outputs }: Started,
  pid: number,
): RunningTool {
  const { clock } = call
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  const stdout = keepBeginning(outputs.stdout, keptBytes(outputBytesMax))
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
    later(drainMs, () => setImmediate(finish)) // first read the output that arrived while this process was busy
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
    // A sandbox that gets the signal ends its program without grace, so wait for the program's group.
    if (status === undefined) signalGroup(pid, 'SIGTERM')
    else status.onGroup((group) => exit === undefined && signalGroup(group, 'SIGTERM'))
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
function failedToStart(launch: CommandLaunch, child: ChildProcess): RunningTool {
  const { promise: ended, resolve } = Promise.withResolvers<ToolEnding>()
  child.once('error', (error) => resolve(startFault(launch, error)))
  return { started: Promise.resolve(false), ended, stop: () => {} }
}
