// What happens in a turn, in words: the same on every screen.

import type {
  ApprovalDecided,
  CallFinished,
  CallRejected,
  CallsWaiting,
  GuardVerdictGiven,
  InterventionRaised,
  PendingCall,
  RoundStarted,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { printable } from './printable.ts'
import { count, durationText } from './quantities.ts'

export function callRejectedText({ name, reason }: CallRejected): string {
  return `${printable(name)} rejected before execution: ${printable(reason)}`
}

/** How a call ended that was not refused at once, on one line. */
export function callFinishedText({ name, status, reason, durationMs }: CallFinished): string {
  return `${printable(name)} ${statusText(status, durationMs)}${reason === '' ? '' : `: ${printable(reason)}`}`
}

function statusText(status: CallFinished['status'], durationMs: number): string {
  switch (status) {
    case 'ok':
      return `ok, ${durationText(durationMs)}`
    case 'error':
      return `failed after ${durationText(durationMs)}`
    case 'timed_out':
      return `timed out after ${durationText(durationMs)}`
    case 'outcome_unknown':
      return 'may have run, its outcome is unknown'
    case 'rejected':
      return 'rejected before execution'
    case 'vetoed':
      return 'vetoed'
    case 'skipped':
      return 'skipped, it did not run'
    default:
      return unreachable(status)
  }
}

/** A line for each call that waits. */
export function callsWaitingTexts({ calls }: CallsWaiting): string[] {
  return calls.map(
    ({ name, guards }) =>
      `${printable(name)} waits for ${guards.length === 1 ? 'guard' : 'guards'} ${printable(guards.join(', '))}`,
  )
}

/**
 * What a veto does not tell: a guard whose answer could not be used or did not come. Undefined: it
 * answered.
 */
export function guardVerdictText({
  guard,
  answer,
  verdicts,
}: GuardVerdictGiven): string | undefined {
  const passed = verdicts.filter(({ verdict }) => verdict === 'pass').length
  switch (answer) {
    case 'verdicts':
      return undefined
    case 'silent':
      return `guard ${printable(guard)} did not answer in time${passed === 0 ? '' : `, and ${count(passed, 'call')} goes on without its word`}`
    case 'unusable':
      return `guard ${printable(guard)} gave an answer that cannot be used`
    default:
      return unreachable(answer)
  }
}

/**
 * For each call that waits for a person: a line that says so, the exact arguments as lines of their
 * own, and how to decide.
 */
/** What is said before the arguments of a call that waits, and after them. */
export function approvalPendingTexts({ name, id, rule }: PendingCall): {
  before: string
  after: string
} {
  return {
    before: `${printable(name)} needs a person's approval (${printable(rule)}):`,
    after: `weir approve ${printable(id)}, or weir reject ${printable(id)} --reason "..."`,
  }
}

export function approvalDecidedText({
  name,
  outcome,
  by,
  reason,
  waitedMs,
}: ApprovalDecided): string {
  const why = reason === '' ? '' : `: ${printable(reason)}`
  switch (outcome) {
    case 'approved':
      return `${printable(name)} was approved by ${printable(by)} after ${durationText(waitedMs)}`
    case 'rejected':
      return `${printable(name)} was rejected by ${printable(by)} after ${durationText(waitedMs)}${why}`
    case 'expired':
      return `${printable(name)} was rejected: nobody decided within ${durationText(waitedMs)}`
    case 'withdrawn':
      return `${printable(name)} waits for nobody any more${why}`
    default:
      return unreachable(outcome)
  }
}

export function interventionText({ intervention: { rule, reason } }: InterventionRaised): string {
  return `${rule}: ${printable(reason)}`
}

/** Undefined: an ordinary request. */
export function roundStartedText({ callsLeft, nudged }: RoundStarted): string | undefined {
  if (callsLeft === 0) return 'the model is asked once more, and cannot call a tool'
  return nudged
    ? 'the model is asked, with the intervention as its newest system message'
    : undefined
}

/** How a turn ended that was not simply answered: outcome, class where it says more, reason. */
export function endingText({ outcome, class: failureClass, reason }: TurnFinished): string {
  return `${outcome}${failureClass === null || failureClass === outcome ? '' : ` (${failureClass})`}: ${printable(reason)}`
}

export function totalsText({
  totals: { rounds, calls, inputTokens, outputTokens, wallMs },
}: TurnFinished): string {
  return `${count(rounds, 'round')}, ${count(calls, 'call')}, ${inputTokens} + ${outputTokens} tokens, ${durationText(wallMs)}`
}
