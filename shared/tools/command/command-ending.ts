// Turns the end of a program into the result of its call: the text for the model and the short
// reason.

import { errorLine } from '../../contract/call/error-line.ts'
import * as texts from '../../model-texts/tools.ts'
import type { Output } from '../kept-output.ts'
import type { ToolEnding } from '../tool.ts'
import { type Cause, notes, outOfBounds, stopped, timedOut } from '../tool-endings.ts'

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** `exit` is undefined if the program could not be killed in time. */
export function commandEnding({
  cause,
  exit,
  stdout,
  stderr,
}: {
  cause: Cause
  exit: Exit | undefined
  stdout: Output
  stderr: Output
}): ToolEnding {
  const output = excerpt(stdout, stderr)
  if (cause.kind === 'timeout') return timedOut(cause.timeoutMs, output)
  if (cause.kind === 'bound') return outOfBounds(cause.bound, output)
  // A program that ends well after a stop has done its work. After any other end its effect is
  // unknown.
  if (cause.kind === 'stop' && exit?.code !== 0) return stopped(cause.why, output)
  if (exit?.code === 0) return { status: 'ok', text: stdout.text + notes(stdout), reason: '' }

  const how = howOf(exit)
  const text = exit?.signal == null ? texts.commandFailed(how) : texts.commandKilled(how)
  const line = errorLine(stderr.text) ?? errorLine(stdout.text)
  return {
    status: 'error',
    text: text + (output === '' ? texts.noOutput : output),
    reason: line ?? how,
  }
}

/** As a short reason: `exit code 3`, `signal SIGKILL`. */
export function howOf(exit: Exit | undefined): string {
  return exit?.signal == null ? `exit code ${exit?.code}` : `signal ${exit.signal}`
}

function excerpt(stdout: Output, stderr: Output): string {
  const errors =
    stderr.text.trim() === ''
      ? ''
      : texts.errorOutput((stderr.cut ? texts.errorOutputCut : '') + stderr.text.trimEnd())
  const output =
    stdout.text.trim() === '' ? '' : texts.output(stdout.text.trimEnd() + notes(stdout))
  return errors + output
}
