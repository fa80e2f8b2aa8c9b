// The tool kind `module`: a function, called in a process that runs only its module. The process is
// kept for later calls, so that a call costs a message and not a start. Not a worker thread: a
// thread sees our environment and memory, which hold the keys, and `process.exit` in it would end
// us too. Top-level state of a module is shared by its calls, also across conversations.
// A process runs one call at a time. It gets no further call if it ended without an
// answer, or holds too much memory. A slow load goes on for the next call.
// A call is stopped by `signal`, then killed with all that it started.
// Memory and the wait for an end are bounded, for any module.

import type { ModuleTool } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { unreachable } from '../../contract/stage.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { keptBytes } from '../kept-output.ts'
import { sandboxFault } from '../sandbox/sandboxed.ts'
import type { RunningTool, StartTool, ToolCall, ToolEnding } from '../tool.ts'
import { type Cause, neverStarted, stoppedBefore } from '../tool-endings.ts'
import type { Answer } from './module-child.ts'
import {
  endedWhileLoading,
  notForked,
  notLoaded,
  notLoadedInTime,
  returned,
  vanished,
} from './module-ending.ts'
import { createModulePool, type ModulePool } from './module-pool.ts'
import type { Gone } from './module-process.ts'

/** A killed process ends at once, unless it hangs in the kernel. */
const killMs: Milliseconds = 2_000

/** Has its own processes, shared by all tools of this process. `close` ends the idle ones. */
export function moduleTools(): { start: StartTool<ModuleTool>; close(): void } {
  const pool = createModulePool()
  return {
    start(run, call) {
      try {
        return follow(run, call, pool)
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException
        return neverStarted(sandboxFault(error) ?? notForked({ code }))
      }
    },
    close: () => pool.close(),
  }
}

function follow(run: ModuleTool, call: ToolCall, pool: ModulePool): RunningTool {
  const { clock } = call
  const started = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<ToolEnding>()
  const timers: (() => void)[] = []
  let phase: 'loading' | 'calling' | 'answered' | 'over' = 'loading'
  let cause: Cause = { kind: 'itself' }
  const { process, isLoaded } = pool.take(run, clock, { answered, gone }, call.isBound)

  if (isLoaded) begin()
  later(call.timeoutMs, () => end({ kind: 'timeout', timeoutMs: call.timeoutMs }, call.graceMs))

  return {
    started: started.promise,
    ended: ended.promise,
    stop: (graceMs, why) => end({ kind: 'stop', why }, graceMs),
  }

  function begin(): void {
    phase = 'calling'
    process.printed() // drop the output since the last call
    const { arguments: text, idempotencyKey, context } = call
    process.send({
      type: 'call',
      arguments: text,
      idempotencyKey,
      ...(context !== undefined && { context: JSON.stringify(context) }),
      textBytesMax: keptBytes(run.outputBytesMax),
    })
    started.resolve(true)
  }

  function answered(answer: Answer): void {
    switch (answer.type) {
      case 'loaded':
        if (phase === 'loading') begin()
        return
      case 'not-loaded':
        if (phase === 'loading') finish(notLoaded(run, answer))
        return
      case 'returned':
      case 'failed':
        if (phase !== 'calling') return
        phase = 'answered'
        // The printed output is in the pipes, as far as it fits, and is read before the next turn
        // of the event loop.
        setImmediate(() =>
          finish(returned(cause, answer), isFitForMore(answer) ? pool.giveBack : undefined),
        )
        return
      default:
        return unreachable(answer)
    }
  }

  function gone(how: Gone): void {
    if (phase === 'loading') finish(endedWhileLoading(run, how, process.printed()))
    else if (phase === 'calling') {
      if (how.kind === 'ended' && how.bound !== undefined && cause.kind === 'itself')
        cause = { kind: 'bound', bound: how.bound }
      finish(vanished(cause, how, process.printed()))
    }
  }

  /** The first cause counts. A later one can only shorten the grace. */
  function end(by: Exclude<Cause, { kind: 'itself' }>, graceMs: Milliseconds): void {
    if (phase === 'loading' && by.kind === 'timeout')
      return finish(notLoadedInTime(run, by.timeoutMs), pool.letLoad)
    if (phase === 'loading' && by.kind === 'stop') return finish(stoppedBefore(by.why))
    if (phase !== 'calling') return
    if (cause.kind === 'itself') cause = by
    if (graceMs <= 0) return kill()
    process.send({ type: 'abort' })
    later(graceMs, kill)
  }

  function kill(): void {
    process.kill()
    later(killMs, () => finish(vanished(cause, undefined, process.printed())))
  }

  /** `keep` keeps the process for a later call. Without it, the process is killed. */
  function finish(ending: ToolEnding, keep?: ModulePool['giveBack']): void {
    if (phase === 'over') return
    phase = 'over'
    for (const cancel of timers) cancel()
    const { stdout, stderr } = process.printed()
    const printed = stdout + stderr + (ending.printed ?? '')
    if (keep === undefined) process.kill()
    else keep(run, clock, process)
    started.resolve(false)
    ended.resolve({ ...ending, ...(printed !== '' && { printed }) })
  }

  function isFitForMore(answer: Extract<Answer, { type: 'returned' | 'failed' }>): boolean {
    const isWell = answer.type === 'returned' || answer.how !== 'crashed'
    return isWell && cause.kind === 'itself' && answer.memoryBytes <= limits.moduleMemoryBytesMax
  }

  function later(delayMs: Milliseconds, fire: () => void): void {
    timers.push(clock.after(delayMs, fire))
  }
}
