// Prints one guard of a round: its answer, and its verdict on each call. Marks a guard in shadow.

import { unreachable } from '../../../shared/contract/stage.ts'
import type {
  ApprovalTimeline,
  GuardedCallTimeline,
  GuardTimeline,
} from '../../../shared/view/timeline.ts'
import { count, elapsed } from '../../terminal/text/quantities.ts'
import type { Page } from './page.ts'

export function printGuard(page: Page, guard: GuardTimeline): void {
  const { name, version, calls } = guard
  const isShadow = calls.every(({ mode }) => mode === 'shadow')
  const hasStopped = calls.some(({ stopped }) => stopped)
  const title = `${name} ${version}${isShadow ? ', a shadow' : ''}`
  const answerTone = guard.answer === 'verdicts' ? 'faint' : 'warning'
  page.entry(4, 'guard', `${title}: ${answerText(guard)}`, hasStopped ? 'bad' : answerTone)
  for (const call of calls) {
    if (call.approval !== null)
      page.line(6, `call ${call.ordinal}: ${approvalText(call.approval)}`, 'faint')
    if (call.verdict === null) continue
    page.line(6, callText(call), call.stopped ? 'bad' : 'faint')
    if (call.verdict !== 'allow' && call.text !== '') page.quote(6, call.text)
    if (call.evidence !== null && call.evidence !== '')
      page.entry(6, 'evidence', call.evidence, 'faint')
  }
}

function answerText({
  answer,
  tookMs,
  judgedMs,
  deadlineMs,
  onTimeout,
  calls,
}: GuardTimeline): string {
  const after = tookMs === null ? '' : ` after ${elapsed(tookMs)}`
  const judged =
    judgedMs === null || judgedMs === 0
      ? ''
      : `, of which ${elapsed(Math.max(1, Math.round(judgedMs)))} judging`
  const letThrough = calls.filter(
    ({ verdict, code }) => verdict === 'allow' && code === 'guard.silent',
  ).length
  const then =
    onTimeout === 'allow' ? `; ${count(letThrough, 'call')} went on without its verdict` : ''
  switch (answer) {
    case 'verdicts':
      return `answered${after}${judged}`
    case 'late':
      return `answered${after}, too late: it had ${elapsed(deadlineMs)}${then}`
    case 'silent':
      return `did not answer within ${elapsed(deadlineMs)}${then}`
    case 'unusable':
      return `gave an unusable answer${after}`
    case 'none':
      return 'has not answered'
    default:
      return unreachable(answer)
  }
}

function callText({ ordinal, mode, verdict, code, stopped }: GuardedCallTimeline): string {
  const because = code === '' ? '' : ` (${code})`
  if (verdict === 'allow') return `call ${ordinal}: allowed${because}`
  if (verdict === 'ask')
    return mode === 'shadow'
      ? `call ${ordinal}: would have needed approval${because}`
      : `call ${ordinal}: needs a person's approval${because}`
  if (mode === 'shadow') return `call ${ordinal}: would have been denied${because}`
  return stopped
    ? `call ${ordinal}: denied${because}; this stopped it`
    : `call ${ordinal}: denied${because}; it was decided before`
}

export function approvalText({
  id,
  rule,
  outcome,
  by,
  identity,
  reason,
  waitedMs,
}: ApprovalTimeline): string {
  const person = `${by}${identity === 'claimed' ? ' (claimed)' : ''}`
  const after = waitedMs === null ? '' : ` after ${elapsed(waitedMs)}`
  switch (outcome) {
    case 'pending':
      return `waits for a person (${rule}) as ${id}`
    case 'allow':
      return `allowed by ${person}${after} (${rule}, ${id})`
    case 'deny':
      return `denied by ${person}${after} (${rule}, ${id})${reason === '' ? '' : `: ${reason}`}`
    case 'expired':
      return `nobody decided${after} (${rule}, ${id})`
    case 'withdrawn':
      return `decided before a person could decide${after} (${rule}, ${id})${reason === '' ? '' : `: ${reason}`}`
    default:
      return unreachable(outcome)
  }
}
