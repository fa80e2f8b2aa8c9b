// Turns the answer of a module, or the end of its process, into the result of a call. Stacks and
// file names go to the log only.

import type { ModuleTool } from '../../agents/agents.ts'
import { errorLine } from '../../contract/call/error-line.ts'
import { limits } from '../../contract/limits.ts'
import { shortened } from '../../lib/text-cut.ts'
import * as texts from '../../model-texts/tools.ts'
import { howOf } from '../command/command-ending.ts'
import type { ToolEnding } from '../tool.ts'
import {
  type Cause,
  notes,
  notReady,
  notStarted,
  outOfBounds,
  stopped,
  timedOut,
} from '../tool-endings.ts'
import type { FunctionOutcome } from './function-outcome.ts'
import type { Answer } from './module-child.ts'
import type { Gone, Printed } from './module-process.ts'

const remedy = 'correct the module, or module in the agent file'

/** The function returned a result or an error. */
export function returned(cause: Cause, answer: FunctionOutcome): ToolEnding {
  if (cause.kind === 'timeout') return timedOut(cause.timeoutMs)
  if (cause.kind === 'bound') return outOfBounds(cause.bound)
  if (answer.type === 'returned') {
    const { text, bytes, replaced } = answer
    const output = { text, bytes, cut: bytes > Buffer.byteLength(text), replaced }
    return { status: 'ok', text: text + notes(output), reason: '' }
  }
  // Like a program that does not end well after a stop: its effect is unknown.
  if (cause.kind === 'stop') return stopped(cause.why)
  const { message, how, stack: printed } = answer
  const reason = errorLine(message) ?? 'an error without a message'
  switch (how) {
    case 'threw':
      return { status: 'error', text: texts.functionFailed(message), reason, printed }
    case 'crashed':
      return {
        status: 'error',
        text: texts.functionCrashed(message),
        reason,
        printed,
      }
    case 'no-json':
      return {
        status: 'error',
        text: texts.resultWithoutJson(message),
        reason: shortened(`its result has no JSON: ${reason}`, limits.reasonBytesMax),
        printed,
      }
  }
}

/**
 * The process ended before the function returned, or could not be killed in time (`gone`
 * undefined).
 */
export function vanished(cause: Cause, gone: Gone | undefined, { stderr }: Printed): ToolEnding {
  if (cause.kind === 'timeout') return timedOut(cause.timeoutMs)
  if (cause.kind === 'bound') return outOfBounds(cause.bound)
  if (cause.kind === 'stop') return stopped(cause.why)
  const how = howOf(gone?.kind === 'ended' ? gone.exit : undefined)
  const line = errorLine(stderr)
  return {
    status: 'error',
    text: texts.processEnded(how) + (line === undefined ? '' : texts.errorOutput(line)),
    reason: line ?? `its process ended: ${how}`,
  }
}

/** Loading failed, so there was no function to call. */
export function notLoaded(
  { file }: ModuleTool,
  { code, stack }: Extract<Answer, { type: 'not-loaded' }>,
): ToolEnding {
  const event =
    code === 'NO_FUNCTION'
      ? 'its module does not export its function'
      : 'its module could not be loaded'
  return notStarted({ code, event, fault: `cannot load the module ${file}: ${stack}; ${remedy}` })
}

export function endedWhileLoading(
  { file }: ModuleTool,
  gone: Gone,
  { stderr }: Printed,
): ToolEnding {
  if (gone.kind === 'not-started') return notForked(gone)
  const code = howOf(gone.exit)
  const fault = `the module ${file} ended its process (${code}) while it was loaded; ${remedy}; its error output: ${stderr}`
  return notStarted({ code, event: 'its module ended its process', fault })
}

export function notLoadedInTime({ file }: ModuleTool, timeoutMs: number): ToolEnding {
  return notReady({
    event: texts.moduleTooSlow(timeoutMs),
    timeoutMs,
    fault: `the module ${file} was not loaded within ${timeoutMs} ms, the tool's timeout; ${remedy}`,
  })
}

export function notForked({ code }: { code: string }): ToolEnding {
  return notStarted({
    code,
    event: 'the system refused',
    fault: `cannot start a process for a module tool: ${code}`,
  })
}
