// Endings that the kinds of tools share, so that the model reads the same words for the same thing.

import { outcomeUnknown } from '../../../shared/contract/call-endings.ts'
import type { Output } from './kept-output.ts'
import type { RunningTool, ToolEnding } from './tool.ts'

/** Who ended it: it itself, or we did. */
export type Cause =
  | { kind: 'itself' }
  | { kind: 'timeout'; timeoutMs: number }
  | { kind: 'stop'; why: string }

const setupAdvice =
  'This is a fault of the set-up, not of the arguments: do not retry, continue without this tool or tell the user.'

/** `said`: what the tool had written until then, beginning on a line of its own; or nothing. */
export function timedOut(timeoutMs: number, said = ''): ToolEnding {
  const what = `The tool was stopped because it did not finish within ${timeoutMs} ms.`
  const advice = 'It may have done a part of its work; check before doing it again.'
  return {
    status: 'timed_out',
    text: `${what} ${advice}${said}`,
    reason: `timed out after ${timeoutMs} ms`,
  }
}

export function stopped(why: string, said = ''): ToolEnding {
  const unknown = outcomeUnknown(`The tool was stopped while it ran: ${why}.`, `stopped: ${why}`)
  return { ...unknown, text: unknown.text + said }
}

/**
 * The call never ran. What is wrong is for the operator, and stands in `fault`; the model can only
 * do without the tool.
 */
export function notStarted({
  code,
  what,
  fault,
}: {
  code: string
  what: string
  fault: string
}): ToolEnding {
  return {
    status: 'error',
    text: `The tool could not be started: ${what} (${code}). ${setupAdvice}`,
    reason: `could not be started: ${code}`,
    fault,
  }
}

/**
 * What it needs first did not come in time, so the call itself never ran. `what` is a whole
 * sentence.
 */
export function notReady({
  what,
  timeoutMs,
  fault,
}: {
  what: string
  timeoutMs: number
  fault: string
}): ToolEnding {
  return {
    status: 'error',
    text: `${what} The call was not run.`,
    reason: `not ready within ${timeoutMs} ms`,
    fault,
  }
}

/** We stopped it before the call ran. */
export function stoppedBefore(why: string): ToolEnding {
  return {
    status: 'skipped',
    text: `This call was not run: before it began it was stopped: ${why}.`,
    reason: `stopped before it began: ${why}`,
  }
}

/** A tool that is over before it began. */
export function neverStarted(ending: ToolEnding): RunningTool {
  return { started: Promise.resolve(false), ended: Promise.resolve(ending), stop: () => {} }
}

/** What the model must know about a text that it does not see as it was sent. */
export function notes({ bytes, cut, replaced }: Output): string {
  return (
    (cut ? `\n[cut: this is the beginning of ${bytes} bytes]` : '') +
    (replaced ? '\n[some bytes were not UTF-8 and are shown as \uFFFD]' : '')
  )
}
