// The idle processes of modules. The one that was idle shortest gets the next call, so those left
// from a burst age.

import type { ModuleTool } from '../../agents/agents.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Listener, type ModuleProcess, startModuleProcess } from './module-process.ts'

/**
 * How long the process of a module tool may go on loading its module after the end of the call
 * that started it.
 */
export const moduleLoadMs = 30_000
/** Processes of module tools that wait for the next call, and how long each one waits. */
export const idleModulesMax = 8
export const moduleIdleMs = 5 * 60_000

type Waiting = { key: string; process: ModuleProcess; cancelTimer: () => void }

export type ModulePool = {
  /**
   * An idle process, or a new one that loads the module first; always a new one if `mustBeNew`.
   * Throws if the system cannot start one.
   */
  take(
    run: ModuleTool,
    clock: Clock,
    listener: Listener,
    mustBeNew?: boolean,
  ): { process: ModuleProcess; isLoaded: boolean }
  /** Keeps a process that can run another call. */
  giveBack(run: ModuleTool, clock: Clock, process: ModuleProcess): void
  /**
   * Keeps a process that still loads; then it is idle like the others. At most one for each module,
   * and for a limited time.
   */
  letLoad(run: ModuleTool, clock: Clock, process: ModuleProcess): void
  /** Ends all its processes. */
  close(): void
}

export function createModulePool(): ModulePool {
  /** The one that was idle longest comes first. */
  let waiting: Waiting[] = []
  const loading = new Map<string, ModuleProcess>()

  return {
    take(run, clock, listener, mustBeNew = false) {
      const found = mustBeNew
        ? undefined
        : waiting.findLast(({ key, process }) => key === keyOf(run) && process.isAlive())
      if (found === undefined)
        return { process: startModuleProcess(run, clock, listener), isLoaded: false }
      remove(found)
      found.process.listen(listener)
      found.process.hold(true)
      return { process: found.process, isLoaded: true }
    },

    giveBack,

    letLoad(run, clock, process) {
      const key = keyOf(run)
      if (loading.has(key)) return process.kill()
      loading.set(key, process)
      process.hold(false)
      const cancelTimer = clock.after(moduleLoadMs, process.kill)
      const done = () => {
        cancelTimer()
        loading.delete(key)
      }
      process.listen({
        gone: done,
        answered(answer) {
          done()
          if (answer.type === 'loaded') giveBack(run, clock, process)
          else process.kill()
        },
      })
    },

    close() {
      for (const one of waiting) end(one)
      for (const process of loading.values()) process.kill()
    },
  }

  function giveBack(run: ModuleTool, clock: Clock, process: ModuleProcess): void {
    const one: Waiting = {
      key: keyOf(run),
      process,
      cancelTimer: clock.after(moduleIdleMs, () => end(one)),
    }
    waiting.push(one)
    process.listen({ answered: () => {}, gone: () => remove(one) })
    process.hold(false)
    const [longest] = waiting
    if (waiting.length > idleModulesMax && longest !== undefined) end(longest)
  }

  function remove(one: Waiting): void {
    one.cancelTimer()
    waiting = waiting.filter((other) => other !== one)
  }

  function end(one: Waiting): void {
    remove(one)
    one.process.kill()
  }
}

/** Two tools share a process only if it sees and may do the same for both. */
function keyOf(run: ModuleTool): string {
  const { file, entry, cwd, environment = [], sandbox = 'off' } = run
  return JSON.stringify([file, entry, cwd, environment, sandbox])
}
