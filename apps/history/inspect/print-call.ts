// Prints one call of a timeline: the arguments as sent, the verdict, each try, the result.

import { unreachable } from '../../../shared/contract/stage.ts'
import type { CallTimeline, TryTimeline } from '../../../shared/view/timeline.ts'
import type { Tone } from '../../terminal/paint.ts'
import { elapsed } from '../../terminal/text/quantities.ts'
import { argumentsText } from './argument-words.ts'
import type { Page } from './page.ts'

/** Indentation of the lines below a call. */
const below = 6

export function printCall(page: Page, call: CallTimeline): void {
  const { ordinal, name, rawArguments, verdict, tries, result } = call
  page.entryOrQuote(4, `call ${ordinal}`, name, rawArguments)
  const validTone = call.repair === null && !call.disputed ? 'faint' : 'warning'
  // A front does not see in which pieces the arguments came, and no reader misses that of a good call.
  const isPlain = call.source === 'deltas' && validTone === 'faint' && call.problem === null
  if (!isPlain) page.line(below, argumentsText(call), call.problem === null ? validTone : 'bad')
  if (call.repair !== null) page.entryOrQuote(below, 'as sent', '', call.repair.sent)
  if (verdict.kind === 'deny') {
    page.line(below, `denied before execution (${verdict.code}): ${verdict.reason}`, 'bad')
    page.quote(below, result?.text ?? verdict.text)
    return
  }
  if (verdict.kind === 'allow')
    for (const one of tries) page.line(below, tryText(one, verdict.at), 'faint')
  if (result === null) {
    if (verdict.kind === 'allow' && tries.length === 0)
      page.line(below, 'cleared, but not claimed yet', 'warning')
    return
  }
  page.line(below, resultText(result), markOf(result.status))
  if (call.waits) page.line(below, 'a wait, which is no repetition', 'faint')
  page.quote(below, result.text)
}

/** All times count from clearing. */
function tryText(
  { try: number, claimedAt, startedAt, endedAt, end, status }: TryTimeline,
  clearedAt: number,
): string {
  const after = (at: number) => elapsed(Math.max(0, at - clearedAt))
  const steps = [`claimed after ${after(claimedAt)}`]
  if (startedAt !== null) steps.push(`started after ${after(startedAt)}`)
  if (endedAt !== null) steps.push(`${endText(end, status)} after ${after(endedAt)}`)
  return `try ${number}: ${steps.join(', ')}`
}

function endText(end: TryTimeline['end'], status: TryTimeline['status']): string {
  switch (end) {
    case 'result':
      return `ended (${status})`
    case 'given-back':
      return 'returned without a start'
    case 'lapsed':
      return 'lost with its process'
    case 'late':
      return `ended (${status}), too late to count,`
    case 'open':
      return ''
    default:
      return unreachable(end)
  }
}

function resultText({ status, reason, durationMs }: NonNullable<CallTimeline['result']>): string {
  const outcome = outcomeTexts[status] ?? status.replace('_', ' ')
  const ran = durationMs > 0 ? ` after ${elapsed(durationMs)}` : ''
  return `${outcome}${ran}${reason === '' ? '' : `: ${reason}`}`
}

const outcomeTexts: Partial<Record<NonNullable<CallTimeline['result']>['status'], string>> = {
  unknown: 'outcome unknown: it may have run, or may still take effect',
  unseen: 'result not seen',
}

function markOf(status: NonNullable<CallTimeline['result']>['status']): Tone {
  if (status === 'ok') return 'good'
  return status === 'skipped' || status === 'unseen' ? 'warning' : 'bad'
}
