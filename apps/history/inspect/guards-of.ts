// The guards of a round: their answers and durations, and the verdict that stopped a call.
// A guard's answer is in its own topic, and the executor's reading of it is in the activity. If the
// two differ, the executor's is the one that counted.

import { approvalGuard } from '../../../shared/contract/guard/approval-guard.ts'
import type { CallVerdict, GuardInForce, PendingCall } from '../../../shared/contract/messages.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import { all, first, type Logged } from './logged.ts'
import type {
  ApprovalTimeline,
  GuardedCallTimeline,
  GuardTimeline,
  QuestionTimeline,
} from './timeline.ts'

/** `ofRound`: all records of the round, in order. */
export function guardsOf(ofRound: Logged[]): GuardTimeline[] {
  const cleared = first(ofRound, 'round-cleared')
  if (cleared === undefined) return []
  const decided = new Set(cleared.message.decided.map(({ ordinal }) => ordinal))
  const calls = cleared.message.calls.filter(({ ordinal }) => !decided.has(ordinal))
  return cleared.message.policy.guards.flatMap((guard) => {
    const judged = calls.flatMap(({ ordinal, name }) => {
      const mode = modeFor(guard, name)
      return mode === undefined ? [] : [{ ordinal, mode }]
    })
    return judged.length === 0 ? [] : [guardOf(guard, judged, cleared.time, ofRound)]
  })
}

type JudgedCall = Pick<GuardedCallTimeline, 'ordinal' | 'mode'>

function guardOf(
  guard: GuardInForce,
  judged: JudgedCall[],
  clearedAt: number,
  ofRound: Logged[],
): GuardTimeline {
  const { name, deadlineMs, onTimeout } = guard
  const answer = all(ofRound, 'guard-verdict').find(({ topic }) => topic === guardTopicName(name))
  const given = all(ofRound, 'guard-verdict-given').find(({ message }) => message.guard === name)
  const tookMs = answer === undefined ? null : Math.max(0, answer.time - clearedAt)
  const fromExecutor =
    given === undefined || given.message.answer === 'verdicts' ? undefined : given.message.answer
  const isLate = tookMs !== null && (tookMs >= deadlineMs || fromExecutor === 'silent')
  return {
    name,
    version: answer?.message.version ?? given?.message.version ?? guard.version,
    answer: isLate ? 'late' : (fromExecutor ?? (answer === undefined ? 'none' : 'verdicts')),
    answeredAt: answer?.time ?? null,
    tookMs,
    judgedMs: answer?.message.judgedMs ?? null,
    deadlineMs,
    onTimeout,
    calls: judged.map((call) => callOf(call, name, answer?.message.verdicts, ofRound)),
  }
}

function callOf(
  { ordinal, mode }: JudgedCall,
  guard: string,
  verdicts: CallVerdict[] | undefined,
  ofRound: Logged[],
): GuardedCallTimeline {
  const answered = verdicts?.find((verdict) => verdict.ordinal === ordinal)
  const counted = all(ofRound, 'guard-verdict-given')
    .filter(({ message }) => message.guard === guard)
    .flatMap(({ message }) => message.verdicts.filter((verdict) => verdict.ordinal === ordinal))[0]
  const { verdict = null, code = '', text = '', evidence = null } = counted ?? answered ?? {}
  const approval = guard === approvalGuard ? approvalOf(ordinal, ofRound) : null
  return {
    ordinal,
    mode,
    verdict,
    code,
    text,
    evidence,
    stopped: counted?.verdict === 'reject',
    approval,
  }
}

function approvalOf(ordinal: number, ofRound: Logged[]): ApprovalTimeline | null {
  const pending = pendingIn(ofRound).find(
    (call) => call.ordinal === ordinal && call.question === null,
  )
  return pending === undefined ? null : decisionOn(pending, ofRound)
}

/** The questions of running tools to a person, in their order. */
export function questionsOf(ofRound: Logged[]): QuestionTimeline[] {
  return pendingIn(ofRound)
    .filter(({ question }) => question !== null)
    .map((call) => ({ ordinal: call.ordinal, ...decisionOn(call, ofRound) }))
}

function pendingIn(ofRound: Logged[]): PendingCall[] {
  return all(ofRound, 'approval-pending').flatMap(({ message }) => message.calls)
}

function decisionOn({ ordinal, id, rule }: PendingCall, ofRound: Logged[]): ApprovalTimeline {
  const decided = all(ofRound, 'approval-decided').find(
    ({ message }) => message.ordinal === ordinal && message.id === id,
  )
  if (decided === undefined)
    return {
      id,
      rule,
      outcome: 'pending',
      by: '',
      identity: 'claimed',
      reason: '',
      at: null,
      waitedMs: null,
    }
  const { outcome, by, identity, reason, waitedMs } = decided.message
  return { id, rule, outcome, by, identity, reason, at: decided.time, waitedMs }
}
