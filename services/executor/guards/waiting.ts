// Calls that wait for guards: which guards, and the effect of an answer, of a silence and of the
// end of the turn. Part of the reducer, which has the branches.
// A call waits only for the guards in its round's policy: a guard that is
// registered, switched or removed later changes nothing.
// The first answer of each guard before its deadline counts, and any denial
// is a veto. A verdict at or after the deadline is none, however late the tick.
// EXECUTOR-WAITING-3. A call for which a guard requests approval runs only if a person allowed it.
//     Without the approval guard, and without a person's decision, it is denied (R6).

import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  Call,
  CallVerdict,
  Declaration,
  GuardVerdict,
  WaitingCall,
} from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { onOneLine, shortened } from '../../../shared/lib/text-cut.ts'
import { noApprovalRule } from '../../../shared/model-texts/denied-calls.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import { redactedActivity } from '../../../shared/runtime/redaction/agent-redaction.ts'
import { approvalAnswered } from '../offered/person-offers.ts'
import { notRun } from '../results.ts'
import { finishCall, type OpenCall, type Phase, type Round, type Turn } from '../turn.ts'
import {
  type Answer,
  type AwaitedGuard,
  answerOf,
  boundedIntervention,
  deniedCall,
  silenceOf,
} from './guard-answer.ts'
import { keepAllowed } from './held-calls.ts'

/**
 * The first phase of a call that may run: waiting for the guards that enforce for its tool, if any.
 * Adds the call to each of them.
 */
export function phaseOf(round: Round, call: Call, declaration: Declaration): Phase {
  const guards = round.policy.guards.filter((guard) => modeFor(guard, call.name) === 'enforce')
  for (const { name, version, onTimeout, deadlineMs } of guards) {
    const known = round.guards.find((guard) => guard.name === name)
    if (known !== undefined) known.ordinals.push(call.ordinal)
    else
      round.guards.push({
        name,
        version,
        onTimeout,
        due: round.clearedAt + Math.max(1, deadlineMs),
        ordinals: [call.ordinal],
      })
  }
  return { kind: 'waiting', declaration, guards: guards.map(({ name }) => name) }
}

/** Applies a guard's verdict on a round. A late, repeated or unexpected one changes nothing. */
export function applyVerdict(
  turn: Turn,
  round: Round,
  message: GuardVerdict,
  time: Milliseconds,
): Output[] {
  const records = endOverdueWaits(turn, round, time)
  const guard = round.guards.find(({ name }) => name === message.guard)
  if (guard === undefined) return records
  if (guard.name === approvalGuard) {
    approvalAnswered(round)
    keepAllowed(round, message)
  }
  if (message.intervention !== null)
    round.interventions.push(boundedIntervention(guard.name, message.intervention))
  return [...records, ...applyAnswer(turn, round, guard, answerOf(guard, message), time)]
}

/**
 * Ends waits by time: the round has expired, or a guard was silent. The guard with the earliest
 * deadline goes first, so the record names the guard that stopped a call.
 */
export function endOverdueWaits(turn: Turn, round: Round, time: Milliseconds): Output[] {
  if (time >= round.expiresAt) return finishWaitingCalls(turn, round, 'expired')
  const silent = round.guards
    .filter(({ due }) => time >= due)
    .sort((a, b) => a.due - b.due || (a.name < b.name ? -1 : 1))
  return silent.flatMap((guard) =>
    round.guards.includes(guard) ? applyAnswer(turn, round, guard, silenceOf(guard), time) : [],
  )
}

/** Applies a guard's answer, or its silence, to the calls that wait for it. */
function applyAnswer(
  turn: Turn,
  round: Round,
  { name }: AwaitedGuard,
  { answer, version, verdicts }: Answer,
  time: Milliseconds,
): Output[] {
  const { conversation } = turn
  const counting = verdicts.flatMap((verdict) => {
    const open = round.calls.find(({ call }) => call.ordinal === verdict.ordinal)
    return open?.phase.kind === 'waiting' ? [verdictThatCounts(name, verdict, open)] : []
  })
  const given = {
    conversation,
    turn: turn.turn,
    round: round.round,
    guard: name,
    version,
    answer,
    verdicts: counting,
  }
  const records: Output[] = [
    {
      to: 'activity',
      message: redactedActivity(
        {
          type: 'guard-verdict-given',
          ...given,
          waitedMs: Math.max(0, time - round.clearedAt),
        },
        round.policy.redact,
        round.calls.map(({ call }) => call),
      ),
    },
  ]
  for (const open of round.calls) {
    const { phase } = open
    const verdict = counting.find(({ ordinal }) => ordinal === open.call.ordinal)
    if (verdict === undefined || phase.kind !== 'waiting') continue
    if (verdict.verdict === 'deny')
      records.push(finishCall(turn, round, open, deniedCall(name, verdict)))
    else {
      if (verdict.verdict === 'ask') open.requested ??= requestText(name, verdict)
      const guards = phase.guards.filter((other) => other !== name)
      // One without guards becomes ready with the round's others (held-calls.ts).
      open.phase = { ...phase, guards }
    }
  }
  forgetAnswered(round, name)
  return records
}

/** Keeps EXECUTOR-WAITING-3. */
function verdictThatCounts(
  guard: string,
  verdict: CallVerdict,
  { phase, requested, isAllowed }: OpenCall,
): CallVerdict {
  if (isAllowed || phase.kind !== 'waiting') return verdict
  if (verdict.verdict === 'ask' && !phase.guards.includes(approvalGuard))
    return {
      ...verdict,
      verdict: 'deny',
      text: noApprovalRule(verdict.text, true),
    }
  if (verdict.verdict === 'allow' && guard === approvalGuard && requested !== undefined)
    return {
      ...verdict,
      verdict: 'deny',
      code: 'approval.not-requested',
      text: noApprovalRule(requested, false),
    }
  return verdict
}

/** For the person. */
function requestText(guard: string, { text }: CallVerdict): string {
  return shortened(onOneLine(`guard ${guard}: ${text}`), limits.reasonBytesMax)
}

/** Drops the guards that no call waits for. */
export function forgetAnswered(round: Round, answered?: string): void {
  const awaited = new Set(
    round.calls.flatMap(({ phase }) => (phase.kind === 'waiting' ? phase.guards : [])),
  )
  round.guards = round.guards.filter(({ name }) => name !== answered && awaited.has(name))
}

/** Finishes the waiting calls: no verdict can let them run any more. */
export function finishWaitingCalls(
  turn: Turn,
  round: Round,
  why: 'cancelled' | 'expired',
): Output[] {
  const records = round.calls.flatMap((open) =>
    open.phase.kind === 'waiting' ? [finishCall(turn, round, open, notRun(why, false))] : [],
  )
  round.guards = []
  return records
}

/** The activity record with the calls and guards that the round waits for. */
export function callsWaiting(
  { conversation, turn }: Turn,
  { round, calls, guards, expiresAt }: Round,
): Output {
  const waiting = calls.flatMap(({ call: { ordinal, name }, phase }): WaitingCall[] =>
    phase.kind === 'waiting'
      ? [{ ordinal, name, guards: phase.guards.length > 0 ? phase.guards : [approvalGuard] }]
      : [],
  )
  const until = Math.min(expiresAt, Math.max(...guards.map(({ due }) => due)))
  return {
    to: 'activity',
    message: { type: 'calls-waiting', conversation, turn, round, calls: waiting, until },
  }
}
