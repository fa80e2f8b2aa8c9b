// The processes of modules that wait for a next call. The one that waited least is taken first, so
// that those that a burst has left behind age.

import type { ModuleTool } from '../../../shared/agents/agents.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import { type Listener, type ModuleProcess, startModuleProcess } from './module-process.ts'

type Waiting = { key: string; process: ModuleProcess; cancelTimer: () => void }

export type ModulePool = {
  /**
   * A process that waits, or a new one that loads the module first. Throws where the system refuses
   * to start one.
   */
  take(
    run: ModuleTool,
    clock: Clock,
    listener: Listener,
  ): { process: ModuleProcess; isLoaded: boolean }
  /** For a process that can take another call. */
  giveBack(run: ModuleTool, clock: Clock, process: ModuleProcess): void
  /**
   * For a process that still loads: once it has loaded it waits with the others. One for each
   * module, and not for long.
   */
  letLoad(run: ModuleTool, clock: Clock, process: ModuleProcess): void
  /** Ends all that it has. */
  close(): void
}

export function createModulePool(): ModulePool {
  /** Who has waited longest comes first. */
  let waiting: Waiting[] = []
  const loading = new Map<string, ModuleProcess>()

  return {
    take(run, clock, listener) {
      const found = waiting.findLast(({ key, process }) => key === keyOf(run) && process.isAlive())
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
      const cancelTimer = clock.after(limits.moduleLoadMs, process.kill)
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
      cancelTimer: clock.after(limits.moduleIdleMs, () => end(one)),
    }
    waiting.push(one)
    process.listen({ answered: () => {}, gone: () => remove(one) })
    process.hold(false)
    const [longest] = waiting
    if (waiting.length > limits.idleModulesMax && longest !== undefined) end(longest)
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

/** Two tools share a process only if it would see the same in both. */
function keyOf({ file, environment = [] }: ModuleTool): string {
  return JSON.stringify([file, environment])
}
