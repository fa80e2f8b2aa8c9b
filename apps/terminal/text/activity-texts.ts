// The events of a turn as texts, the same on every screen.

import type {
  ApprovalDecided,
  BudgetReached,
  CallDenied,
  CallFinished,
  CallsWaiting,
  GuardVerdictGiven,
  InterventionRaised,
  ModelRetry,
  ModelWaiting,
  PendingCall,
  RoundStarted,
  TurnFinished,
} from '../../../shared/contract/messages.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import { shownAmount } from './money-text.ts'
import { printable } from './printable.ts'
import { count, durationText } from './quantities.ts'

export function callDeniedText({ name, reason }: CallDenied): string {
  return `${printable(name)} denied before execution: ${printable(reason)}`
}

/** The end of a call that was not denied at once, on one line. */
export function callFinishedText({
  name,
  status,
  reason,
  durationMs,
}: Omit<CallFinished, 'result'>): string {
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
    case 'unknown':
      return 'may have run, its outcome is unknown'
    case 'unseen':
      return 'ran, nobody saw its result'
    case 'denied':
      return 'denied before execution'
    case 'skipped':
      return 'skipped, it did not run'
    default:
      return unreachable(status)
  }
}

/** One line for each waiting call. */
export function callsWaitingTexts({ calls }: CallsWaiting): string[] {
  return calls.map(
    ({ name, guards }) =>
      `${printable(name)} waits for ${guards.length === 1 ? 'guard' : 'guards'} ${printable(guards.join(', '))}`,
  )
}

/**
 * The answer of a guard, if it was unusable or missing: a veto does not show that. Undefined: the
 * guard gave verdicts.
 */
export function guardVerdictText({
  guard,
  answer,
  verdicts,
}: GuardVerdictGiven): string | undefined {
  const passed = verdicts.filter(({ verdict }) => verdict === 'allow').length
  switch (answer) {
    case 'verdicts':
      return undefined
    case 'silent':
      return `guard ${printable(guard)} did not answer in time${passed === 0 ? '' : `, and ${count(passed, 'call')} goes on without its verdict`}`
    case 'unusable':
      return `guard ${printable(guard)} gave an unusable answer`
    default:
      return unreachable(answer)
  }
}

/** The texts before and after the arguments of a call that waits for a person. */
export function approvalPendingTexts({
  name,
  id,
  rule,
  source,
  program,
  question,
}: Omit<PendingCall, 'arguments'>): { before: string; after: string } {
  if (question !== null)
    return {
      before: `${printable(name)} runs and needs input (${printable(rule)}):`,
      after: `weir allow ${printable(id)} --values '{...}', or weir deny ${printable(id)}`,
    }
  return {
    before: `${printable(name)}${asTextWords(source)} needs a person's approval (${printable(rule)}):`,
    after: `${programWords(program)}weir allow ${printable(id)}, or weir deny ${printable(id)} --reason "..."`,
  }
}

/** The begin of the hash of the program for which the approval holds. */
export function programText(program: PendingCall['program']): string | undefined {
  if (program === null) return undefined
  return program === '' ? 'program not found' : `program ${printable(program.slice(0, 12))}`
}

function programWords(program: PendingCall['program']): string {
  const text = programText(program)
  return text === undefined ? '' : `${text}; `
}

/** A note on a call that the model wrote as text. Empty for a native call. */
function asTextWords(source: PendingCall['source']): string {
  return source === 'text' ? ', which the model wrote as text,' : ''
}

export function approvalDecidedText({
  name,
  outcome,
  by,
  reason,
  waitedMs,
  identity,
}: ApprovalDecided): string {
  const person = `${printable(by)}${identity === 'claimed' ? ' (claimed)' : ''}`
  const why = reason === '' ? '' : `: ${printable(reason)}`
  switch (outcome) {
    case 'allow':
      return `${printable(name)} was allowed by ${person} after ${durationText(waitedMs)}`
    case 'deny':
      return `${printable(name)} was denied by ${person} after ${durationText(waitedMs)}${why}`
    case 'expired':
      return `${printable(name)} was denied: nobody decided within ${durationText(waitedMs)}`
    case 'withdrawn':
      return `${printable(name)} no longer waits for approval${why}`
    default:
      return unreachable(outcome)
  }
}

export function interventionText({ intervention: { rule, reason } }: InterventionRaised): string {
  return `${rule}: ${printable(reason)}`
}

/** `the provider answered 429, next attempt in 1.0 s`. */
export function modelRetryText({ reason, waitMs }: ModelRetry): string {
  return `${printable(reason)}, next attempt ${waitMs === 0 ? 'at once' : `in ${waitText(waitMs)}`}`
}

export function modelWaitingText({ reason, ahead, waitMs }: ModelWaiting): string {
  const others = ahead === 0 ? '' : `, ${count(ahead, 'request')} earlier`
  const planned = waitMs < 1000 ? '' : ` about ${waitText(waitMs)}`
  return `the request waits${planned}: ${printable(reason)}${others}`
}

/** Whole seconds, because the wait is no measurement. */
function waitText(ms: number): string {
  return durationText(ms).replace('.0 s', ' s')
}

/** Undefined: an ordinary request. */
export function roundStartedText({ callsLeft, nudged }: RoundStarted): string | undefined {
  if (callsLeft === 0) return 'the model gets one more request, without tools'
  return nudged ? 'the next request has the intervention as its newest system message' : undefined
}

/** The end of a turn: outcome, failure class if it adds information, reason. */
export function budgetReachedText({ budget, used }: BudgetReached): string {
  return `the soft budget ${printable(budget.id)} is reached: ${shownAmount(used, budget.unit)} are used or reserved`
}

export function endingText({ outcome, class: failureClass, reason }: TurnFinished): string {
  return `${outcome}${failureClass === null || failureClass === outcome ? '' : ` (${failureClass})`}: ${printable(reason)}`
}

export function totalsText({
  totals: { rounds, calls, inputTokens, outputTokens, wallMs },
}: TurnFinished): string {
  return `${count(rounds, 'round')}, ${count(calls, 'call')}, ${inputTokens} + ${outputTokens} tokens, ${durationText(wallMs)}`
}
