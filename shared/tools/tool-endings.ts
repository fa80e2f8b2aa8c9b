// Endings that the kinds of tools share, so that the model reads the same text for the same event.

import { outcomeUnknown } from '../contract/call/call-endings.ts'
import { cutNote, stoppedBefore as stoppedBeforeText } from '../model-texts/endings.ts'
import * as texts from '../model-texts/tools.ts'
import type { Output } from './kept-output.ts'
import type { RunningTool, ToolEnding } from './tool.ts'

/** The cause of the end: the tool itself, or Weir. */
export type Cause =
  | { kind: 'itself' }
  | { kind: 'timeout'; timeoutMs: number }
  | { kind: 'stop'; why: string }
  /** `bound`: of its sandbox, as `512 MiB of memory`. */
  | { kind: 'bound'; bound: string }

/** `output`: the output so far, beginning on a new line, or nothing. */
export function timedOut(timeoutMs: number, output = ''): ToolEnding {
  return {
    status: 'timed_out',
    text: texts.toolTimedOut(timeoutMs) + output,
    reason: `timed out after ${timeoutMs} ms`,
  }
}

export function outOfBounds(bound: string, output = ''): ToolEnding {
  return {
    status: 'error',
    text: texts.toolOutOfBounds(bound) + output,
    reason: `used more than ${bound}`,
  }
}

export function stopped(why: string, output = ''): ToolEnding {
  const unknown = outcomeUnknown(texts.toolStopped(why), `stopped: ${why}`)
  return { ...unknown, text: unknown.text + output }
}

/** A function that ignores its signal: nothing can kill it. */
export function stillRunning(
  cause: Extract<Cause, { kind: 'timeout' | 'stop' }>,
  graceMs: number,
): ToolEnding {
  const fault = `the tool ignores its signal: it still ran ${graceMs} ms after it was asked to stop. Its late result is dropped, and it may still take effect. Let it end when the signal aborts, or set isolated`
  if (cause.kind === 'stop') return { ...stopped(cause.why), fault }
  const { timeoutMs } = cause
  return {
    status: 'timed_out',
    text: texts.toolGoesOn(timeoutMs),
    reason: `timed out after ${timeoutMs} ms`,
    fault,
  }
}

/**
 * The call never ran. `fault` has the cause for the operator; the model can only continue without
 * the tool.
 */
export function notStarted({
  code,
  event,
  fault,
}: {
  code: string
  event: string
  fault: string
}): ToolEnding {
  return {
    status: 'error',
    text: texts.toolNotStarted(`${event} (${code})`),
    reason: `could not be started: ${code}`,
    fault,
  }
}

/** `fault`: the cause, for the operator. */
export function notInSandbox(fault: string): ToolEnding {
  const event = 'its sandbox could not be made'
  return notStarted({ code: 'SANDBOX', event, fault: `the tool did not start: ${fault}` })
}

/**
 * The preparation was too slow, so the call itself never ran. `event` is a whole sentence.
 */
export function notReady({
  event,
  timeoutMs,
  fault,
}: {
  event: string
  timeoutMs: number
  fault: string
}): ToolEnding {
  return {
    status: 'error',
    text: texts.toolNotReady(event),
    reason: `not ready within ${timeoutMs} ms`,
    fault,
  }
}

/** Weir stopped it before the call ran. */
export function stoppedBefore(why: string): ToolEnding {
  return {
    status: 'skipped',
    text: stoppedBeforeText(why),
    reason: `stopped before it began: ${why}`,
  }
}

/** A tool that has ended before its start. */
export function neverStarted(ending: ToolEnding): RunningTool {
  return { started: Promise.resolve(false), ended: Promise.resolve(ending), stop: () => {} }
}

/** Notes for the model on the differences between the shown and the sent text. */
export function notes({ bytes, cut, replaced }: Output): string {
  return (cut ? cutNote(bytes) : '') + (replaced ? texts.bytesReplaced : '')
}
