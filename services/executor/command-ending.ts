// What a program's end means as the result of a call: the text that the model reads and the short reason.

import { errorLine } from './error-line.ts'
import type { Output } from './kept-output.ts'
import { outcomeUnknown } from './results.ts'
import type { ToolEnding } from './tool.ts'

/** Who ended it: it itself, or we did. */
export type Cause = { kind: 'itself' } | { kind: 'timeout'; timeoutMs: number } | { kind: 'stop'; why: string }

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** `exit` is undefined when the program could not be killed within the time for that. */
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
  const said = excerpt(stdout, stderr)
  if (cause.kind === 'timeout') {
    const what = `The tool was stopped because it did not finish within ${cause.timeoutMs} ms.`
    const advice = 'It may have done a part of its work; check before doing it again.'
    return { status: 'timed_out', text: `${what} ${advice}${said}`, reason: `timed out after ${cause.timeoutMs} ms` }
  }
  // A program that was asked to stop and still ends well has done its work; any other end of it says nothing about what was done.
  if (cause.kind === 'stop' && exit?.code !== 0) {
    const unknown = outcomeUnknown(`The tool was stopped while it ran: ${cause.why}.`, `stopped: ${cause.why}`)
    return { ...unknown, text: unknown.text + said }
  }
  if (exit?.code === 0) return { status: 'ok', text: stdout.text + notes(stdout), reason: '' }

  const how = exit?.signal == null ? `exit code ${exit?.code}` : `signal ${exit.signal}`
  const text = exit?.signal == null ? `The tool failed with ${how}.` : `The tool was killed by ${how}.`
  const line = errorLine(stderr.text) ?? errorLine(stdout.text)
  return { status: 'error', text: text + (said === '' ? ' It wrote nothing.' : said), reason: line ?? how }
}

/** The program never ran. What is wrong is for the operator, and stands in `fault`; the model can only do without the tool. */
export function notStarted({ code, what, fault }: { code: string; what: string; fault: string }): ToolEnding {
  const advice = 'This is a fault of the set-up, not of the arguments: do not retry, continue without this tool or tell the user.'
  return {
    status: 'error',
    text: `The tool could not be started: ${what} (${code}). ${advice}`,
    reason: `could not be started: ${code}`,
    fault,
  }
}

function excerpt(stdout: Output, stderr: Output): string {
  const errors =
    stderr.text.trim() === '' ? '' : `\nIts error output:\n${stderr.cut ? '[cut: this is the end]\n' : ''}${stderr.text.trimEnd()}`
  const output = stdout.text.trim() === '' ? '' : `\nIts output:\n${stdout.text.trimEnd()}${notes(stdout)}`
  return errors + output
}

function notes({ bytes, cut, replaced }: Output): string {
  return (
    (cut ? `\n[cut: this is the beginning of ${bytes} bytes]` : '') +
    (replaced ? '\n[some bytes were not UTF-8 and are shown as \uFFFD]' : '')
  )
}
