// One process that runs a tool's module (module-child.ts), as its parent sees it. A listener gets
// its answers, and once its end. It sees PATH and the variables that the agent file allows, leads
// its own process group, and does not outlive us. An idle one does not keep us alive.
// It answers once to its start and once to each call, in a bounded line. Other bytes
// on that pipe end it: it runs code of others.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { ModuleTool } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { withoutInherited } from '../../lib/sandbox/inherited-descriptors.ts'
import type { Exit } from '../command/command-ending.ts'
import { keepEnd } from '../kept-output.ts'
import { messageLines } from '../message-lines.ts'
import { type Bounds, watchBounds } from '../sandbox/sandbox-bounds.ts'
import { proxyEnvironment } from '../sandbox/sandbox-environment.ts'
import { sandboxed } from '../sandbox/sandboxed.ts'
import { signalGroup, visibleEnvironment } from '../tool-process.ts'
import { moduleChild, nodeArgv } from '../tool-program.ts'
import { answerBytesMax, answerIn } from './module-answer.ts'
import type { Answer, Request } from './module-child.ts'

/** It ended, or it could not be started. `bound`: of its sandbox, which it exceeded. */
export type Gone =
  | { kind: 'ended'; exit: Exit; bound?: string }
  | { kind: 'not-started'; code: string }

export type Listener = { answered(answer: Answer): void; gone(how: Gone): void }

export type Printed = { stdout: string; stderr: string }

export type ModuleProcess = {
  /** Replaces the listener. */
  listen(listener: Listener): void
  /** Does nothing if it has ended: the listener gets the end. */
  send(request: Request): void
  /** The end of its output since the last call of this function. */
  printed(): Printed
  /** Whether it can run a call, as far as we know. */
  isAlive(): boolean
  /** Kills it and all that it started. */
  kill(): void
  /** Whether we stay alive for it. */
  hold(isHeld: boolean): void
}

const printedBytesMax = 8 * 1024
/**
 * How long to read the rest of the pipes after its end. Also how long it may take to end by itself
 * after it closed the channel.
 */
const drainMs: Milliseconds = 200

/**
 * Starts it. The listener gets a message when the module is loaded. Throws if the system refuses at
 * once, or if its sandbox cannot be made (`sandbox.unavailable`, `sandbox.refused`).
 */
export function startModuleProcess(run: ModuleTool, clock: Clock, first: Listener): ModuleProcess {
  const { child, bounds } = launch(run)
  const { pid } = child
  const [stdout, stderr] = outputsOf(child).map((pipe) => keepEnd(pipe, printedBytesMax))
  const channel = child.stdio[channelFd] as Socket | null | undefined
  let listener = first
  let exit: Exit | undefined
  let bound: string | undefined
  let isGone = false
  /** An answer may come. `textBytesMax`: of its text. */
  let isAwaited = true
  let textBytesMax = 0
  const cancelWatch =
    pid === undefined || bounds === undefined
      ? () => {}
      : watchBounds(pid, bounds, clock, (exceeded) => {
          bound = exceeded
          kill()
        })

  const readLines = messageLines(answerBytesMax, { onLine, onTooLong: endBroken })
  channel?.on('data', (piece: Buffer) => {
    if (isAwaited) readLines(piece)
    else endBroken()
  })
  // Without the channel it is useless. An end also begins like this, and its exit has more
  // information than a kill.
  channel?.once('close', () => clock.after(drainMs, kill))
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) leave({ kind: 'not-started', code: error.code ?? 'unknown' })
  })
  child.once('exit', (code, signal) => {
    exit = { code, signal }
    cancelWatch()
    if (pid !== undefined) signalGroup(pid, 'SIGKILL') // now: from here on another process may get the group's number
    const ended: Gone = { kind: 'ended', exit, ...(bound !== undefined && { bound }) }
    const cancelTimer = clock.after(drainMs, () => leave(ended))
    child.once('close', () => {
      cancelTimer()
      leave(ended)
    })
  })
  for (const pipe of pipesOf(child)) {
    pipe.on('error', () => {})
    if (pipe !== channel) pipe.unref()
  }

  return {
    listen(next) {
      listener = next
    },
    send(request) {
      if (request.type === 'call') {
        isAwaited = true
        textBytesMax = request.textBytesMax
      }
      if (channel?.writable) channel.write(`${JSON.stringify(request)}\n`)
    },
    printed: () => ({
      stdout: stdout?.('forget').text ?? '',
      stderr: stderr?.('forget').text ?? '',
    }),
    isAlive: () => pid !== undefined && exit === undefined && channel?.writable === true,
    kill,
    hold(isHeld) {
      if (isHeld) child.ref()
      else child.unref()
      if (isHeld) channel?.ref()
      else channel?.unref()
    },
  }

  function onLine(line: string): void {
    const answer = isAwaited ? answerIn(line, textBytesMax) : undefined
    if (answer === undefined) return endBroken()
    isAwaited = false
    listener.answered(answer)
  }

  function endBroken(): void {
    isAwaited = false
    channel?.destroy()
    kill()
  }

  function kill(): void {
    if (exit === undefined && pid !== undefined) signalGroup(pid, 'SIGKILL')
  }

  function leave(how: Gone): void {
    if (isGone) return
    isGone = true
    for (const pipe of pipesOf(child)) pipe.destroy()
    listener.gone(how)
  }
}

/** Of the pipe with the requests and answers, and of the status lines of a sandbox. */
const channelFd = 3
const statusFd = 5

function launch(run: ModuleTool): { child: ChildProcess; bounds: Bounds | undefined } {
  const { file, cwd, environment, entry } = run
  const heap = `--max-old-space-size=${limits.moduleHeapMiBMax}`
  const [node, ...flags] = nodeArgv
  const argv = [node, ...flags, heap, moduleChild, file] as const
  const boxed = sandboxed(run, { argv, statusFd })
  const [program, ...programArguments] = boxed?.argv ?? argv
  const throughProxy = boxed?.usesProxy === true
  const network = throughProxy ? 'through-proxy' : 'direct'
  const forChild = [network, ...(entry === undefined ? [] : [entry.kind, entry.name])]
  const child = spawn(program, [...programArguments, ...forChild], {
    cwd,
    detached: true,
    env: { ...visibleEnvironment(environment), ...(throughProxy && proxyEnvironment()) },
    // 4 is its lifeline (module-child.ts), 5 gets the status lines of a sandbox.
    stdio: withoutInherited([
      ...(['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] as const),
      boxed === undefined ? 'ignore' : 'pipe',
    ]),
  })
  return { child, bounds: boxed?.bounds }
}

/** None if it could not be started. */
function pipesOf({ stdio }: ChildProcess): Socket[] {
  return (stdio as readonly unknown[]).filter((pipe) => pipe != null) as Socket[]
}

function outputsOf({ stdout, stderr }: ChildProcess): Readable[] {
  return [stdout, stderr].filter((pipe) => pipe != null)
}
