// The checks in this process between an accepted claim and the start of a tool. They cover the
// refinements of its schema, which no JSON Schema expresses, and the context that it needs.
// A tool whose check finds a problem, throws or takes too long never starts.
// The checks count against the call's timeout. A tool without checks starts at
// once.
// JavaScript gets no number that it cannot hold exactly: not the check, no function
// and no module.

import type { Checked, Tool, ValueCheck } from '../agents/agents.ts'
import { filledTemplate } from '../contract/arguments/denial-template.ts'
import { quoted, shownName } from '../contract/arguments/name-text.ts'
import { denied } from '../contract/call/call-endings.ts'
import type { TurnId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import { fieldAt, inexactNumbersIn } from '../lib/json/exact-number.ts'
import { asSentence, shortened } from '../lib/text-cut.ts'
import { wrongArguments } from '../model-texts/denied-calls.ts'
import * as texts from '../model-texts/tools.ts'
import { described } from './module/function-outcome.ts'
import type { RunningTool, ToolCall, ToolEnding } from './tool.ts'
import { neverStarted, notReady, stoppedBefore } from './tool-endings.ts'

/** The context of a turn's question, in the process of its client. Undefined: it is not here. */
export type ContextOf = (turn: TurnId) => Context | undefined | Promise<Context | undefined>
export type Context = { value: unknown }

export type CheckedStart = {
  tool: Tool
  call: ToolCall
  turn: TurnId
  contextOf: ContextOf | undefined
  start(call: ToolCall): RunningTool
}

export function startChecked(options: CheckedStart): RunningTool {
  const prepared = preparedCall(options)
  if (prepared instanceof Promise) return startLater(options, prepared)
  return 'status' in prepared ? neverStarted(prepared) : options.start(prepared)
}

type Prepared = ToolCall | ToolEnding

/** At once if no check needs time. */
function preparedCall(options: CheckedStart): Prepared | Promise<Prepared> {
  const { tool, call, turn, contextOf } = options
  const { check, needsContext, run } = tool
  const isHere = run.kind === 'function' || run.kind === 'module'
  const inexact = isHere || check !== undefined ? inexactProblem(call.arguments) : undefined
  if (inexact !== undefined)
    return refused([inexact], call, tool.declaration.name, tool.declaration.hints?.denial)
  if (check === undefined && needsContext === undefined && (!isHere || contextOf === undefined))
    return call
  try {
    const context = isHere || needsContext !== undefined ? contextOf?.(turn) : undefined
    const isUnchecked = check === undefined && needsContext === undefined
    if (isUnchecked && context === undefined) return call
    if (isUnchecked && run.kind === 'function' && !(context instanceof Promise))
      return { ...call, context: context?.value }
    return checkedCall(options, Promise.resolve(context)).catch(checkThrew)
  } catch (error) {
    return checkThrew(error)
  }
}

async function checkedCall(
  { tool: { check, needsContext, declaration, run }, call }: CheckedStart,
  finding: Promise<Context | undefined>,
): Promise<Prepared> {
  let context = await finding
  if (needsContext !== undefined) {
    if (context === undefined) return noContext
    const fit = await needsContext(context.value)
    if ('problems' in fit) return { ...unfitContext, fault: faultOf(fit.problems) }
    context = fit
  }
  const given = context === undefined ? {} : { context: context.value }
  if (run.kind === 'module' && context !== undefined && !isJson(context.value))
    return foreignContext
  if (check === undefined) return { ...call, ...given }
  const checked = await checkOf(check, call)
  if ('problems' in checked)
    return refused(checked.problems, call, declaration.name, declaration.hints?.denial)
  return { ...call, ...given, value: checked.value }
}

function checkOf(check: ValueCheck, call: ToolCall): Checked | Promise<Checked> {
  return check(JSON.parse(call.arguments))
}

function inexactProblem(text: string): string | undefined {
  for (const { sent, path } of inexactNumbersIn(text)) {
    const field = fieldAt(path())
    const subject = field === '' ? 'a number' : `the number in field ${quoted(field)}`
    return `${subject} cannot be passed on exactly: the tool would get ${Number(sent)} for ${shownName(sent)}. Send it as a string if the schema accepts one there`
  }
  return undefined
}

function startLater({ call, start }: CheckedStart, preparing: Promise<Prepared>): RunningTool {
  const { clock, timeoutMs } = call
  const begunAt = clock.monotonic()
  const running = Promise.withResolvers<RunningTool>()
  let isDecided = false
  const cancelTimer = clock.after(timeoutMs, () => leave(checkTooSlow(timeoutMs)))
  void preparing.then((prepared) => {
    if (isDecided) return
    if ('status' in prepared) return leave(prepared)
    const leftMs = Math.max(1, timeoutMs - Math.round(clock.monotonic() - begunAt))
    decide(start({ ...prepared, timeoutMs: leftMs }))
  })

  return {
    started: running.promise.then(({ started }) => started),
    ended: running.promise.then(({ ended }) => ended),
    stop(graceMs, why) {
      leave(stoppedBefore(why))
      void running.promise.then((tool) => tool.stop(graceMs, why))
    },
  }

  function leave(ending: ToolEnding): void {
    if (!isDecided) decide(neverStarted(ending))
  }

  function decide(tool: RunningTool): void {
    isDecided = true
    cancelTimer()
    running.resolve(tool)
  }
}

function refused(
  problems: string[],
  { arguments: sent }: ToolCall,
  tool: string,
  template: string | null | undefined,
): ToolEnding {
  const found = shortened(problems.join('; ') || 'the arguments do not fit', problemsBytesMax)
  const shownSent = shortened(sent.toWellFormed(), sentBytesMax)
  const text =
    template == null
      ? wrongArguments(asSentence(found), shownSent).join('\n')
      : filledTemplate(template, { problems: found, accepted: '', sent: shownSent, tool })
  return { status: 'denied', text, reason: shortened(found, limits.reasonBytesMax) }
}

const problemsBytesMax = 1_024
const sentBytesMax = 2_000

const noContext: ToolEnding = denied(texts.noContext, 'no context of the request')

const unfitContext: ToolEnding = denied(texts.unfitContext, 'unfit context of the request')

const foreignContext: ToolEnding = {
  ...denied(texts.foreignContext, 'context without JSON'),
  fault: 'the context has no JSON, so it cannot go to the process of the tool; give one that has',
}

function faultOf(problems: string[]): string {
  return `the context is not the one that the tool needs: ${shortened(problems.join('; '), problemsBytesMax)}; correct the context of ask, or needsContext of the tool`
}

/** The error may name files, so it is for the log only. */
function checkThrew(error: unknown): ToolEnding {
  return {
    status: 'error',
    text: texts.toolNotStarted(texts.checkFailed),
    reason: 'could not be started: its check failed',
    fault: `the check of the arguments or of the context threw: ${described(error).message}`,
  }
}

function checkTooSlow(timeoutMs: number): ToolEnding {
  const fault = `the check of the arguments or of the context did not end within ${timeoutMs} ms, the tool's timeout`
  return notReady({ event: texts.checkTooSlow(timeoutMs), timeoutMs, fault })
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
