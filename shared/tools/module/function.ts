// The tool kind `function`: a function of this process. It has the rights of this process, and
// nothing can kill it.
// Its signal aborts at the timeout and at a stop. After the grace the call ends without
// it: the result of a function that ignores its signal is dropped, and its fault is logged.
// Its end is reported once, for any result and any error.
// Every end of a function that ran an agent has the tokens that it counted before.

import type { FunctionTool } from '../../agents/agents.ts'
import type { WholeContent } from '../../contract/call/contents.ts'
import type { TokenSum } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { keptBytes } from '../kept-output.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../tool.ts'
import { type Cause, stillRunning } from '../tool-endings.ts'
import { functionOutcome } from './function-outcome.ts'
import { returned } from './module-ending.ts'
import { withImages } from './result-images.ts'

type End = Exclude<Cause, { kind: 'itself' | 'bound' }>

export function startFunction(run: FunctionTool, call: ToolCall): RunningTool {
  const { clock, idempotencyKey, context, timeoutMs, graceMs, caller } = call
  const args = call.value === undefined ? JSON.parse(call.arguments) : call.value
  const controller = new AbortController()
  const { signal } = controller
  const ended = Promise.withResolvers<ToolEnding>()
  const timers: (() => void)[] = []
  let cause: Cause = { kind: 'itself' }
  let tokens: TokenSum | undefined
  let isOver = false

  later(timeoutMs, () => end({ kind: 'timeout', timeoutMs }, graceMs))
  let contents: WholeContent[] = []
  void functionOutcome(async () => {
    const forAgent = run.runsAgent === undefined ? {} : { countTokens, caller }
    const result = withImages(await run.run(args, { signal, idempotencyKey, context, ...forAgent }))
    contents = result.contents
    return result.value
  }, keptBytes(run.outputBytesMax)).then((outcome) => {
    const ending = returned(cause, outcome)
    finish(ending.status === 'ok' && contents.length > 0 ? { ...ending, contents } : ending)
  })

  return {
    started: Promise.resolve(true),
    ended: ended.promise,
    stop: (stopGraceMs, why) => end({ kind: 'stop', why }, stopGraceMs),
  }

  /** The first cause counts. A later one can only shorten the grace. */
  function end(by: End, endGraceMs: Milliseconds): void {
    if (isOver) return
    const first = cause.kind === 'itself' ? by : (cause as End)
    cause = first
    controller.abort(new Error(reasonOf(first)))
    // Even without a grace, a function that heeds its signal has one turn of the event loop.
    later(endGraceMs, () => finish(stillRunning(first, endGraceMs)))
  }

  function finish(ending: ToolEnding): void {
    if (isOver) return
    isOver = true
    for (const cancel of timers) cancel()
    ended.resolve(tokens === undefined ? ending : { ...ending, tokens })
  }

  function countTokens(sum: TokenSum): void {
    tokens = sum
  }

  function later(delayMs: Milliseconds, fire: () => void): void {
    timers.push(clock.after(delayMs, fire))
  }
}

function reasonOf(cause: End): string {
  return cause.kind === 'timeout'
    ? `the call did not finish within ${cause.timeoutMs} ms`
    : `the call was stopped: ${cause.why}`
}
