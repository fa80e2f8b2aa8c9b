// A round of a turn, as its records show it. Pure. Owns: which record of a round counts.
// Does not own: the timeline of a round (round-of.ts), the turn (turn-view.ts).
// ROUND-VIEW-1. If several records agree, the first one counts, as in the stages (R3, R4). A value of
//     a later stage replaces that of an earlier stage, in any order of their records.

import type {
  AnsweredCall,
  Call,
  CallFinished,
  CallResult,
  CallVerdict,
  Declaration,
  Message,
  MessageOf,
  PendingCall,
  Policy,
  Response,
  RoundChecked,
  RoundFailure,
  TextCallsMode,
} from '../contract/messages.ts'
import { type GuardTopicName, guardTopicName, type TopicName } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { InterventionTimeline } from './timeline.ts'

type At<Value> = Value & { at: Milliseconds }

/** Times are append times. A missing field: no record shows it yet. */
export type RoundView = {
  round: number
  /** Of the model request; in the activity, of the round's beginning. */
  requestedAt?: Milliseconds
  startedAt?: Milliseconds
  callsLeft?: number
  nudge: string | null
  offered?: string[]
  attempts: Map<string, AttemptView>
  /** The streamed texts, by attempt. */
  streamed: Map<string, StreamedView>
  /** In the activity: the response, and the newest retry. */
  answered?: MessageOf<'model-answered'>
  retry?: At<MessageOf<'model-retry'>>
  /** The guards that its calls wait for, without those that answered. */
  awaited: Set<string>
  /** The attempt that the gateway chose. */
  chosen?: At<{
    attempt: string
    failure: RoundFailure | null
    textCalls: TextCallsMode | null
  }>
  response?: Response
  /** The stage that `response` comes from: a later one replaces it. */
  responseFrom: number
  failure: RoundFailure | null
  policy?: Policy
  declarations?: Declaration[]
  checked?: At<RoundChecked>
  cleared?: At<{ calls: Call[]; policy: Policy }>
  executedAt?: Milliseconds
  outcomeAt?: Milliseconds
  cancelledAt?: Milliseconds
  /** The entry of the history. */
  kept?: At<{ note: string | null }>
  calls: Map<number, CallView>
  guards: Map<string, GuardView>
  /** Calls and questions that need a person, by ordinal and id. */
  approvals: Map<string, ApprovalView>
  intervention?: InterventionTimeline
  shadowed: InterventionTimeline[]
}

export type AttemptView = {
  startedAt?: Milliseconds
  finishedAt?: Milliseconds
  failed?: At<MessageOf<'attempt-failed'>>
}

export type StreamedView = { firstAt: Milliseconds; text: string; reasoning: string }

/** `result`: of the latest stage that has one. `finished`: its line of activity. */
export type CallView = {
  ordinal: number
  /** The tool, by the activity. */
  name?: string
  /** Set: it must not run. */
  decided?: CallResult
  result?: CallResult
  resultFrom: number
  tries: Map<number, TryView>
  /** In the activity: the call, its first start, its offer to the client, and its end. */
  answered?: AnsweredCall
  startedAt?: Milliseconds
  offered?: At<MessageOf<'call-offered'>>
  isRejected?: true
  finished?: At<CallFinished>
}

/** Whether its tool or its client runs it, by the activity. */
export function isRunning({ startedAt, offered, finished }: CallView): boolean {
  return finished === undefined && (startedAt !== undefined || offered !== undefined)
}

/** Only the first claim of each try can have been accepted (EXEC-1). */
export type TryView = {
  try: number
  claimedAt?: Milliseconds
  owner?: string
  startedAt?: Milliseconds
  /** By owner. */
  outcomes: Map<string, At<{ result: CallResult | null }>>
  lapses: Map<string, Milliseconds>
}

/** `answer`: the guard's own record. `given`: the executor's reading of it, which counts. */
export type GuardView = {
  answer?: At<{ version: string; judgedMs: number; verdicts: CallVerdict[] }>
  given?: Pick<MessageOf<'guard-verdict-given'>, 'answer' | 'version'>
  verdicts: Map<number, CallVerdict>
}

export type ApprovalView = {
  call?: PendingCall
  decided?: At<MessageOf<'approval-decided'>>
}

/** The later stage counts. */
const rank = { history: 1, checked: 2, outcome: 3 } as const
const resultRank = { cleared: 1, executed: 2, outcome: 3 } as const

export function beginRound(round: number): RoundView {
  return {
    round,
    nudge: null,
    awaited: new Set(),
    attempts: new Map(),
    streamed: new Map(),
    responseFrom: 0,
    failure: null,
    calls: new Map(),
    guards: new Map(),
    approvals: new Map(),
    shadowed: [],
  }
}

type Topic = TopicName | GuardTopicName
type RoundRecord = { message: Message; time: Milliseconds; topic: Topic }

/** Adds a record of the round. Changes `view` in place. Other records add nothing. */
export function addToRound(view: RoundView, { message, time: at, topic }: RoundRecord): void {
  addStage(view, message, at)
  addAttempt(view, message, at)
  addCall(view, message, at)
  addVerdict(view, message, { at, topic })
}

function addStage(view: RoundView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'round-started':
      view.startedAt ??= at
      view.callsLeft ??= message.callsLeft
      return
    case 'model-answered':
      view.answered ??= message
      return
    case 'model-retry':
      view.retry = { ...message, at }
      return
    case 'model-request':
      if (view.requestedAt !== undefined) return
      view.requestedAt = at
      view.callsLeft = message.callsLeft
      view.nudge = message.nudge ?? view.nudge
      return
    case 'model-opened':
      view.offered ??= message.offered
      return
    case 'model-finished': {
      const { attempt, failure, textCalls } = message
      if (view.chosen === undefined) view.failure ??= failure
      view.chosen ??= { at, attempt, failure, textCalls }
      return
    }
    case 'round-proposed':
      addResponse(view, message.response, rank.checked)
      view.policy ??= message.policy
      view.declarations = message.declarations
      return
    case 'round-checked':
      addResponse(view, message.response, rank.checked)
      view.policy ??= message.policy
      view.declarations ??= message.declarations
      view.checked ??= { ...message, at }
      return
    case 'round-cleared':
      if (view.cleared !== undefined) return
      view.cleared = { at, calls: message.calls, policy: message.policy }
      for (const result of message.decided) {
        addResult(view, result, resultRank.cleared)
        callAt(view, result.ordinal).decided ??= result
      }
      return
    case 'round-executed':
      if (view.executedAt !== undefined) return
      view.executedAt = at
      for (const result of message.results) addResult(view, result, resultRank.executed)
      return
    case 'round-outcome':
      view.policy ??= message.policy
      addIntervention(view, message.intervention, at)
      if (view.outcomeAt !== undefined) return
      view.outcomeAt = at
      view.failure = message.failure ?? view.failure
      addResponse(view, message.response, rank.outcome)
      for (const result of message.results) addResult(view, result, resultRank.outcome)
      return
    case 'history-entry':
      if (view.kept !== undefined) return
      view.kept = { at, note: message.note }
      view.nudge ??= message.nudge
      if (message.response !== null) addResponse(view, message.response, rank.history)
      return
    case 'intervention-raised':
      if (message.shadow) view.shadowed.push({ at, ...message.intervention })
      else addIntervention(view, message.intervention, at)
      return
    case 'cancel':
      view.cancelledAt ??= at
      return
  }
}

/** Keeps ROUND-VIEW-1. */
function addResponse(view: RoundView, response: Response, from: number): void {
  if (from <= view.responseFrom) return
  view.response = response
  view.responseFrom = from
}

function addIntervention(
  view: RoundView,
  intervention: MessageOf<'round-outcome'>['intervention'],
  at: Milliseconds,
): void {
  if (intervention !== null) view.intervention ??= { at, ...intervention }
}

function addResult(view: RoundView, result: CallResult, from: number): void {
  const call = callAt(view, result.ordinal)
  if (from <= call.resultFrom) return
  call.result = result
  call.resultFrom = from
}

function addAttempt({ attempts, streamed }: RoundView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'attempt-started':
      attemptAt(attempts, message.attempt).startedAt ??= at
      return
    case 'attempt-finished':
      attemptAt(attempts, message.attempt).finishedAt ??= at
      return
    case 'attempt-failed':
      attemptAt(attempts, message.attempt).failed ??= { ...message, at }
      return
    case 'part': {
      const { attempt, events } = message
      const texts = streamed.get(attempt) ?? { firstAt: at, text: '', reasoning: '' }
      streamed.set(attempt, texts)
      for (const { kind, text } of events)
        if (kind === 'text' || kind === 'reasoning') texts[kind] += text
    }
  }
}

function attemptAt(attempts: RoundView['attempts'], attempt: string): AttemptView {
  const known = attempts.get(attempt) ?? {}
  attempts.set(attempt, known)
  return known
}

function addCall(view: RoundView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'claim': {
      const one = tryAt(view, message)
      if (one.owner !== undefined) return
      one.owner = message.owner
      one.claimedAt = at
      return
    }
    case 'model-answered':
      for (const answered of message.calls) {
        const call = callAt(view, answered.ordinal)
        call.answered ??= answered
        call.name ??= answered.name
      }
      return
    case 'tool-started':
      tryAt(view, message).startedAt ??= at
      callAt(view, message.ordinal).startedAt ??= at
      callAt(view, message.ordinal).name ??= message.name
      return
    case 'call-offered':
      callAt(view, message.ordinal).offered ??= { ...message, at }
      return
    case 'call-rejected':
      callAt(view, message.ordinal).isRejected = true
      return
    case 'outcome': {
      const { outcomes } = tryAt(view, message)
      if (!outcomes.has(message.owner)) outcomes.set(message.owner, { at, result: message.result })
      return
    }
    case 'lapsed': {
      const { lapses } = tryAt(view, message)
      if (!lapses.has(message.owner)) lapses.set(message.owner, at)
      return
    }
    case 'call-finished':
      callAt(view, message.ordinal).finished ??= { ...message, at }
  }
}

function callAt({ calls }: RoundView, ordinal: number): CallView {
  const known = calls.get(ordinal) ?? { ordinal, resultFrom: 0, tries: new Map() }
  calls.set(ordinal, known)
  return known
}

function tryAt(
  view: RoundView,
  { ordinal, try: number }: { ordinal: number; try: number },
): TryView {
  const { tries } = callAt(view, ordinal)
  const known = tries.get(number) ?? { try: number, outcomes: new Map(), lapses: new Map() }
  tries.set(number, known)
  return known
}

function addVerdict(
  view: RoundView,
  message: Message,
  { at, topic }: { at: Milliseconds; topic: Topic },
): void {
  switch (message.type) {
    case 'guard-verdict': {
      const { version, judgedMs, verdicts } = message
      guardAt(view, topic).answer ??= { at, version, judgedMs, verdicts }
      return
    }
    case 'calls-waiting':
      for (const { guards } of message.calls) for (const name of guards) view.awaited.add(name)
      return
    case 'guard-verdict-given': {
      view.awaited.delete(message.guard)
      const guard = guardAt(view, guardTopicName(message.guard))
      guard.given ??= { answer: message.answer, version: message.version }
      for (const verdict of message.verdicts)
        if (!guard.verdicts.has(verdict.ordinal)) guard.verdicts.set(verdict.ordinal, verdict)
      return
    }
    case 'approval-pending':
      for (const call of message.calls) approvalAt(view, call).call ??= call
      return
    case 'approval-decided':
      approvalAt(view, message).decided ??= { ...message, at }
  }
}

function approvalAt(
  { approvals }: RoundView,
  { ordinal, id }: Pick<PendingCall, 'ordinal' | 'id'>,
): ApprovalView {
  const key = `${ordinal}/${id}`
  const known = approvals.get(key) ?? {}
  approvals.set(key, known)
  return known
}

function guardAt({ guards }: RoundView, topic: Topic): GuardView {
  const known = guards.get(topic) ?? { verdicts: new Map() }
  guards.set(topic, known)
  return known
}
