// The guards of a round: their answers and durations, and the verdict that stopped a call. Pure.
// A guard's answer is in its own topic, and the executor's reading of it is in the activity. If the
// two differ, the executor's is the one that counted.

import { approvalGuard } from '../contract/guard/approval-guard.ts'
import type { GuardInForce } from '../contract/messages.ts'
import { guardTopicName } from '../contract/topology.ts'
import { modeFor } from '../runtime/guards/tool-pattern.ts'
import type { ApprovalView, RoundView } from './round-view.ts'
import type {
  ApprovalTimeline,
  GuardedCallTimeline,
  GuardTimeline,
  QuestionTimeline,
} from './timeline.ts'
import { answerTime } from './verdicts.ts'

export function guardsOf(view: RoundView): GuardTimeline[] {
  const { 'round-cleared': cleared } = view.stage
  if (cleared === undefined) return []
  const decided = new Set(cleared.message.decided.map(({ ordinal }) => ordinal))
  const calls = cleared.message.calls.filter(({ ordinal }) => !decided.has(ordinal))
  return cleared.message.policy.guards.flatMap((guard) => {
    const judged = calls.flatMap(({ ordinal, name }) => {
      const mode = modeFor(guard, name)
      return mode === undefined ? [] : [{ ordinal, mode }]
    })
    return judged.length === 0 ? [] : [guardOf(guard, judged, cleared.time, view)]
  })
}

type JudgedCall = Pick<GuardedCallTimeline, 'ordinal' | 'mode'>

function guardOf(
  { name, version, deadlineMs, onTimeout }: GuardInForce,
  judged: JudgedCall[],
  clearedAt: number,
  view: RoundView,
): GuardTimeline {
  const { answer, given } = view.guards.find(({ topic }) => topic === guardTopicName(name)) ?? {}
  const time = answer && answerTime({ clearedAt, deadlineMs }, answer.at)
  const fromExecutor = given === undefined || given.answer === 'verdicts' ? undefined : given.answer
  const isLate = time !== undefined && (time.isLate || fromExecutor === 'silent')
  return {
    name,
    version: answer?.version ?? given?.version ?? version,
    answer: isLate ? 'late' : (fromExecutor ?? (answer === undefined ? 'none' : 'verdicts')),
    answeredAt: answer?.at ?? null,
    tookMs: time?.tookMs ?? null,
    judgedMs: answer?.judgedMs ?? null,
    deadlineMs,
    onTimeout,
    calls: judged.map((call) => callOf(call, name, view)),
  }
}

function callOf(
  { ordinal, mode }: JudgedCall,
  guard: string,
  { guards, approvals }: RoundView,
): GuardedCallTimeline {
  const own = guards.find(({ topic }) => topic === guardTopicName(guard))
  const answered = own?.answer?.verdicts.find((verdict) => verdict.ordinal === ordinal)
  const counted = own?.verdicts.find((verdict) => verdict.ordinal === ordinal)
  const { verdict = null, code = '', text = '', evidence = null } = counted ?? answered ?? {}
  const approval =
    guard === approvalGuard
      ? pending(approvals).find(({ call }) => call.ordinal === ordinal && call.question === null)
      : undefined
  return {
    ordinal,
    mode,
    verdict,
    code,
    text,
    evidence,
    stopped: counted?.verdict === 'deny',
    approval: approval === undefined ? null : decisionOn(approval),
  }
}

/** The questions of running tools to a person, in their order. */
export function questionsOf({ approvals }: RoundView): QuestionTimeline[] {
  return pending(approvals)
    .filter(({ call }) => call.question !== null)
    .map((one) => ({ ordinal: one.call.ordinal, ...decisionOn(one) }))
}

type Asked = Required<Pick<ApprovalView, 'call'>> & ApprovalView

function pending(approvals: RoundView['approvals']): Asked[] {
  return approvals.filter((one): one is Asked => one.call !== undefined)
}

function decisionOn({ call: { id, rule }, decided }: Asked): ApprovalTimeline {
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
  const { outcome, by, identity, reason, at, waitedMs } = decided
  return { id, rule, outcome, by, identity, reason, at, waitedMs }
}
