// A round of a turn, as its records show it. Pure. Owns: which record of a round counts.
// Does not own: the timeline of a round (round-of.ts), the turn (turn-view.ts).
// If several records agree, the first one counts, as in the stages (R3, R4). A value of
// a later stage replaces that of an earlier stage, in any order of their records.

import type {
  AnsweredCall,
  CallResult,
  CallVerdict,
  Message,
  MessageOf,
  MessageType,
  PendingCall,
  Response,
} from '../contract/messages.ts'
import { type GuardTopicName, guardTopicName, type TopicName } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { InterventionTimeline } from './timeline.ts'

type At<Value> = Value & { at: Milliseconds }

/** Each stage writes one of these for a round. */
const stageTypes = [
  'round-started',
  'model-request',
  'model-opened',
  'model-finished',
  'round-proposed',
  'round-checked',
  'model-answered',
  'round-cleared',
  'round-executed',
  'round-outcome',
  'history-entry',
  'cancel',
] as const
type StageType = (typeof stageTypes)[number]
const stages: ReadonlySet<MessageType> = new Set(stageTypes)

/** `stage`: the record that counts of each type. A missing one: no record shows it yet. */
export type RoundView = {
  round: number
  stage: { [Type in StageType]?: { message: MessageOf<Type>; time: Milliseconds } }
  attempts: AttemptView[]
  /** The newest retry in the activity. */
  retry?: At<MessageOf<'model-retry'>>
  calls: Map<number, CallView>
  guards: GuardView[]
  /** The guards that its calls wait for, without those that answered. */
  awaited: string[]
  /** Calls and questions that need a person. */
  approvals: ApprovalView[]
  intervention?: InterventionTimeline
  shadowed: InterventionTimeline[]
}

/** `streamed`: the texts of its parts. */
export type AttemptView = {
  attempt: string
  waiting?: At<MessageOf<'model-waiting'>>
  startedAt?: Milliseconds
  finishedAt?: Milliseconds
  failed?: At<MessageOf<'attempt-failed'>>
  streamed?: { firstAt: Milliseconds; text: string; reasoning: string }
}

/** `answered` to `finished`: by the activity. `denied`: it never ran. */
export type CallView = {
  ordinal: number
  name?: string
  answered?: AnsweredCall
  startedAt?: Milliseconds
  offered?: At<MessageOf<'call-offered'>>
  denied?: At<MessageOf<'call-denied'>>
  finished?: At<MessageOf<'call-finished'>>
  tries: TryView[]
}

/** Only the first claim of each try can have been accepted. */
export type TryView = {
  try: number
  claim?: At<MessageOf<'claim'>>
  startedAt?: Milliseconds
  outcomes: At<MessageOf<'outcome'>>[]
  lapses: At<MessageOf<'lapsed'>>[]
}

/** `answer`: the guard's own record. `given`: the executor's reading of it, which counts. */
export type GuardView = {
  topic: string
  answer?: At<MessageOf<'guard-verdict'>>
  given?: MessageOf<'guard-verdict-given'>
  /** Of each call the first one counts. */
  verdicts: CallVerdict[]
}

export type ApprovalView = {
  ordinal: number
  id: string
  call?: PendingCall & { until: Milliseconds }
  decided?: At<MessageOf<'approval-decided'>>
}

export function beginRound(round: number): RoundView {
  return {
    round,
    stage: {},
    attempts: [],
    calls: new Map(),
    guards: [],
    awaited: [],
    approvals: [],
    shadowed: [],
  }
}

/** Whether the activity has its result, or its denial. */
export function isOver({ denied, finished }: CallView): boolean {
  return (denied ?? finished) !== undefined
}

/** Whether its tool or its client runs it, by the activity. */
export function isRunning(call: CallView): boolean {
  return !isOver(call) && (call.startedAt !== undefined || call.offered !== undefined)
}

/** The response from the latest stage that has it. */
export function responseOf({ stage }: RoundView): Response | undefined {
  const folded = stage['round-proposed'] ?? stage['round-checked']
  return (
    stage['round-outcome']?.message.response ??
    folded?.message.response ??
    stage['history-entry']?.message.response ??
    undefined
  )
}

/** The result that the conversation got; until then the executor's. */
export function resultOf({ stage }: RoundView, ordinal: number): CallResult | undefined {
  const of = (results: CallResult[] = []) => results.find((one) => one.ordinal === ordinal)
  return (
    of(stage['round-outcome']?.message.results) ??
    of(stage['round-executed']?.message.results) ??
    of(stage['round-cleared']?.message.decided)
  )
}

type Topic = TopicName | GuardTopicName
type RoundRecord = { message: Message; time: Milliseconds; topic: Topic }

/** Adds a record of the round. Changes `view` in place. Other records add nothing. */
export function addToRound(view: RoundView, record: RoundRecord): void {
  const { message, time: at, topic } = record
  const stage: Partial<Record<MessageType, object>> = view.stage
  if (stages.has(message.type)) stage[message.type] ??= record
  addAttempt(view, message, at)
  addCall(view, message, at)
  addVerdict(view, message, { at, topic })
}

function addAttempt(view: RoundView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'attempt-started':
      attemptAt(view, message).startedAt ??= at
      return
    case 'attempt-finished':
      attemptAt(view, message).finishedAt ??= at
      return
    case 'attempt-failed':
      attemptAt(view, message).failed ??= { ...message, at }
      return
    case 'model-waiting':
      attemptAt(view, message).waiting ??= { ...message, at }
      return
    case 'model-retry':
      view.retry = { ...message, at }
      return
    case 'part': {
      const attempt = attemptAt(view, message)
      attempt.streamed ??= { firstAt: at, text: '', reasoning: '' }
      for (const { kind, text } of message.events)
        if (kind === 'text' || kind === 'reasoning') attempt.streamed[kind] += text
    }
  }
}

function addCall(view: RoundView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'model-answered':
      for (const answered of message.calls) {
        const call = callAt(view, answered)
        call.answered ??= answered
        call.name ??= answered.name
      }
      return
    case 'claim':
      tryAt(view, message).claim ??= { ...message, at }
      return
    case 'tool-started':
      tryAt(view, message).startedAt ??= at
      callAt(view, message).startedAt ??= at
      callAt(view, message).name ??= message.name
      return
    case 'outcome':
      tryAt(view, message).outcomes.push({ ...message, at })
      return
    case 'lapsed':
      tryAt(view, message).lapses.push({ ...message, at })
      return
    case 'call-offered':
      callAt(view, message).offered ??= { ...message, at }
      return
    case 'call-denied':
      callAt(view, message).denied ??= { ...message, at }
      return
    case 'call-finished':
      callAt(view, message).finished ??= { ...message, at }
  }
}

function addVerdict(
  view: RoundView,
  message: Message,
  { at, topic }: { at: Milliseconds; topic: Topic },
): void {
  switch (message.type) {
    case 'calls-waiting':
      view.awaited = [...new Set(message.calls.flatMap(({ guards }) => guards))]
      return
    case 'guard-verdict':
      guardAt(view, topic).answer ??= { ...message, at }
      return
    case 'guard-verdict-given': {
      view.awaited = view.awaited.filter((name) => name !== message.guard)
      const guard = guardAt(view, guardTopicName(message.guard))
      guard.given ??= message
      guard.verdicts.push(...message.verdicts)
      return
    }
    case 'approval-pending':
      for (const call of message.calls)
        approvalAt(view, call).call ??= { ...call, until: message.until }
      return
    case 'approval-decided':
      approvalAt(view, message).decided ??= { ...message, at }
      return
    case 'intervention-raised':
      if (message.shadow) view.shadowed.push({ at, ...message.intervention })
      else view.intervention ??= { at, ...message.intervention }
      return
    case 'round-outcome':
      if (message.intervention !== null) view.intervention ??= { at, ...message.intervention }
  }
}

function attemptAt({ attempts }: RoundView, { attempt }: { attempt: string }): AttemptView {
  return attempts.find((one) => one.attempt === attempt) ?? added(attempts, { attempt })
}

function callAt({ calls }: RoundView, { ordinal }: { ordinal: number }): CallView {
  const call: CallView = calls.get(ordinal) ?? { ordinal, tries: [] }
  calls.set(ordinal, call)
  return call
}

function tryAt(view: RoundView, place: { ordinal: number; try: number }): TryView {
  const { tries } = callAt(view, place)
  const known = tries.find((one) => one.try === place.try)
  return known ?? added(tries, { try: place.try, outcomes: [], lapses: [] })
}

function guardAt({ guards }: RoundView, topic: string): GuardView {
  return guards.find((one) => one.topic === topic) ?? added(guards, { topic, verdicts: [] })
}

function approvalAt(
  { approvals }: RoundView,
  { ordinal, id }: Pick<PendingCall, 'ordinal' | 'id'>,
): ApprovalView {
  const known = approvals.find((one) => one.ordinal === ordinal && one.id === id)
  return known ?? added(approvals, { ordinal, id })
}

function added<Entry>(all: Entry[], entry: Entry): Entry {
  all.push(entry)
  return entry
}
