// One process that runs a tool's module (module-child.ts), as its parent sees it. A listener gets
// its answers, and once its end. It sees PATH and the variables that the agent file allows, leads
// its own process group, and does not outlive us. An idle one does not keep us alive.

import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModuleTool } from '../../../shared/agents/agents.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { Exit } from './command-ending.ts'
import { keepEnd } from './kept-output.ts'
import type { Answer, Request } from './module-child.ts'
import { signalGroup, visibleEnvironment } from './tool-process.ts'

/** It ended, or it could not be started. */
export type Gone = { kind: 'ended'; exit: Exit } | { kind: 'not-started'; code: string }

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

/** Beside this file, with its extension: .ts in a checkout, .js in the package. */
const program = fileURLToPath(
  new URL(`module-child${extname(import.meta.filename)}`, import.meta.url),
)
const printedBytesMax = 8 * 1024
/**
 * How long to read the rest of the pipes after its end. Also how long it may take to end by itself
 * after it closed the channel.
 */
const drainMs: Milliseconds = 200

/**
 * Starts it. The listener gets a message when the module is loaded. Throws if the system refuses at
 * once.
 */
export function startModuleProcess(
  { file, environment }: ModuleTool,
  clock: Clock,
  first: Listener,
): ModuleProcess {
  const child = fork(program, [file], {
    env: visibleEnvironment(environment),
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${limits.moduleHeapMiBMax}`,
    ],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'], // the last one is its lifeline: see module-child.ts, MODULE-CHILD-2
    detached: true,
  })
  const { pid } = child
  const [stdout, stderr] = pipesOf(child).map((pipe) => keepEnd(pipe, printedBytesMax))
  let listener = first
  let exit: Exit | undefined
  let isGone = false

  child.on('message', (answer: Answer) => listener.answered(answer))
  // Without the channel it is useless. An end also begins like this, and its exit has more
  // information than a kill.
  child.on('disconnect', () => clock.after(drainMs, kill))
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) leave({ kind: 'not-started', code: error.code ?? 'unknown' })
  })
  child.once('exit', (code, signal) => {
    exit = { code, signal }
    if (pid !== undefined) signalGroup(pid, 'SIGKILL') // now: from here on another process may get the group's number
    const ended: Gone = { kind: 'ended', exit }
    const cancelTimer = clock.after(drainMs, () => leave(ended))
    child.once('close', () => {
      cancelTimer()
      leave(ended)
    })
  })
  for (const pipe of pipesOf(child)) pipe.on('error', () => {}).unref()

  return {
    listen(next) {
      listener = next
    },
    send(request) {
      child.send(request, () => {}) // a broken channel also emits `disconnect`
    },
    printed: () => ({
      stdout: stdout?.('forget').text ?? '',
      stderr: stderr?.('forget').text ?? '',
    }),
    isAlive: () => pid !== undefined && exit === undefined && child.connected,
    kill,
    hold(isHeld) {
      if (isHeld) child.ref()
      else child.unref()
      if (isHeld) child.channel?.ref()
      else child.channel?.unref()
    },
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

/** Its outputs and its lifeline. None if it could not be started. */
function pipesOf({ stdio }: ChildProcess): Socket[] {
  return [stdio[1], stdio[2], stdio[4]].filter((pipe) => pipe != null) as Socket[]
}
