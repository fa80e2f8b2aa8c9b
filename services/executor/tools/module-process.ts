// One process that runs a tool's module (module-child.ts), as its parent sees it: somebody listens
// to what it answers, and hears once that it is gone. It sees PATH and what the agent file allows,
// leads a group of its own, and does not outlive us. While nobody holds it, it does not keep us
// alive.

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

/** How it went: it ended, or it could never be started. */
export type Gone = { kind: 'ended'; exit: Exit } | { kind: 'not-started'; code: string }

export type Listener = { answered(answer: Answer): void; gone(how: Gone): void }

export type Printed = { stdout: string; stderr: string }

export type ModuleProcess = {
  /** Who is told from now on; the one before is not any more. */
  listen(listener: Listener): void
  /** Nothing where it is gone: then the listener hears of that. */
  send(request: Request): void
  /** The end of what it wrote since this was last asked. */
  printed(): Printed
  /** Whether it can take a call, as far as we have heard. */
  isAlive(): boolean
  /** Kills it and all that it started. */
  kill(): void
  /** Whether we stay alive for it. */
  hold(isHeld: boolean): void
}

/** Beside this file, and of its kind: TypeScript in a checkout, JavaScript in the package. */
const program = fileURLToPath(
  new URL(`module-child${extname(import.meta.filename)}`, import.meta.url),
)
const printedBytesMax = 8 * 1024
/**
 * What is still in the pipes when it has ended is read within this time; and one that has let go of
 * the channel may end by itself.
 */
const drainMs: Milliseconds = 200

/**
 * Starts it; the listener is told when the module is loaded. Throws where the system refuses at
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
  // Without the channel it is of no use. It is also how an end begins, which then tells more than
  // being killed.
  child.on('disconnect', () => clock.after(drainMs, kill))
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (pid === undefined) leave({ kind: 'not-started', code: error.code ?? 'unknown' })
  })
  child.once('exit', (code, signal) => {
    exit = { code, signal }
    if (pid !== undefined) signalGroup(pid, 'SIGKILL') // now, because from here on the group's number may become another's
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
      child.send(request, () => {}) // where the channel is broken, `disconnect` comes too
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

/** Its outputs and its lifeline; none where it could not be started. */
function pipesOf({ stdio }: ChildProcess): Socket[] {
  return [stdio[1], stdio[2], stdio[4]].filter((pipe) => pipe != null) as Socket[]
}
