// The activity of a log as spans: one trace for each turn. Pure: records in, spans out.
// A span depends on records of its turn only, so a second reading gives the same one.
// Every span but the turn's has a parent that exists: the turn's span comes at the
// end of the turn, and later results of a cancelled turn still name it.
// Texts of models, tools and users are left out, unless `content` is set.

import type { Activity } from '../../client/edge/edge.ts'
import { callOfConversation, type TurnId, turnKey } from '../../shared/contract/ids.ts'
import type { MessageOf } from '../../shared/contract/messages.ts'
import { callSpanId, placeSpanId, traceIdOf, turnSpanId } from '../../shared/contract/trace-ids.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { touch } from '../../shared/lib/recency.ts'
import type { RoundView } from '../../shared/view/round-view.ts'
import { inputTokensOf } from '../../shared/view/totals.ts'
import { addToTurn, beginTurn, type TurnView } from '../../shared/view/turn-view.ts'
import { deniedBy } from '../../shared/view/verdicts.ts'
import { eventNames, finishReasons, names, operations } from './names.ts'
import type { Attributes, Span, SpanEvent } from './span.ts'

export type SpanOptions = {
  /** Whether spans hold arguments, results and the model's text. */
  content: boolean
  /** The model of an agent. Undefined: unknown, because no record holds it. */
  modelOf(agent: string): { provider: string; name: string } | undefined
}

export type TurnSpans = {
  /** The spans that this record ends. `time`: its append time. */
  read(activity: Activity, time: Milliseconds): Span[]
}

/** Of turns that are open at once. Beyond it, the oldest one gets no span. */
const turnsMax = 50_000
/** Of events on a turn's span: a backend keeps no more (OpenTelemetry's default is 128). */
const eventsMax = 128

type Attempt = { round: number; number: number; start: Milliseconds }

/** `view`: before the record that is read. */
type OpenTurn = { view: TurnView; events: SpanEvent[] }

export function createTurnSpans(options: SpanOptions): TurnSpans {
  const turns = new Map<string, OpenTurn>()

  const detail = options.content ? 'open' : 'state'

  function read(activity: Activity, time: Milliseconds): Span[] {
    const turn = turnOf(turns, activity, time)
    const spans = spansOf(turn, activity, time)
    addToTurn(turn.view, { topic: 'activity', time, message: activity }, detail)
    if (activity.type === 'turn-finished') turns.delete(turnKey(activity))
    return spans
  }

  function spansOf(turn: OpenTurn, activity: Activity, time: Milliseconds): Span[] {
    switch (activity.type) {
      case 'model-retry':
        return [retriedSpan(turn, activity, time, options)]
      case 'model-answered':
        return answered(turn, activity, time, options)
      case 'call-denied':
        return noted(turn, eventNames.denied, time, {
          [names.round]: activity.round,
          [names.tool]: activity.name,
          [names.detail]: activity.reason,
        })
      case 'intervention-raised':
        return noted(turn, eventNames.intervention, time, {
          [names.round]: activity.round,
          [names.intervention]: `${activity.intervention.rule} ${activity.intervention.action}`,
          [names.isShadow]: activity.shadow,
          [names.detail]: activity.intervention.reason,
        })
      case 'guard-verdict-given':
        return [guardSpan(turn, activity, time)]
      case 'approval-decided':
        return [approvalSpan(turn, activity, time)]
      case 'call-finished':
        return finishedCall(turn, activity, time, options)
      case 'turn-finished':
        return finishedTurn(turn, activity, time, options)
      case 'turn-started':
      case 'round-started':
      case 'tool-started':
      case 'call-offered':
      case 'budget-reached':
      case 'model-waiting':
      case 'calls-waiting':
      case 'approval-pending':
        return []
      default:
        return activity satisfies never
    }
  }

  return { read }
}

/** Kept from a record on that begins something. A late record of an ended turn keeps none. */
function turnOf(turns: Map<string, OpenTurn>, activity: Activity, time: Milliseconds): OpenTurn {
  const key = turnKey(activity)
  const known = turns.get(key)
  if (known !== undefined) return known
  const turn = { view: beginTurn(activity.turn, time), events: [] }
  if (activity.type !== 'turn-started' && activity.type !== 'round-started') return turn
  touch(turns, key, turn, turnsMax)
  return turn
}

type Ended = {
  attempt: Attempt
  end: Milliseconds
  attributes?: Attributes
  failure?: { type: string; reason: string }
}

function retriedSpan(
  turn: OpenTurn,
  message: MessageOf<'model-retry'>,
  time: Milliseconds,
  options: SpanOptions,
): Span {
  const { round, next, reason } = message
  const attempt = { ...attemptOf(turn, round, time), number: next - 1 }
  const failure = { type: 'retry', reason }
  return attemptSpan(turn, message, options, { attempt, end: time, failure })
}

function answered(
  turn: OpenTurn,
  message: MessageOf<'model-answered'>,
  time: Milliseconds,
  options: SpanOptions,
): Span[] {
  const { round, attempt: name, usage, stop, calls, text } = message
  const attempt = attemptOf(turn, round, time)
  if (name === '') return [] // a guest's own request, which Weir did not send
  const attributes = {
    [names.inputTokens]: inputTokensOf(usage),
    [names.outputTokens]: usage.outputTokens,
    [names.cacheReadTokens]: usage.cacheReadTokens,
    [names.cacheWriteTokens]: usage.cacheWriteTokens,
    [names.finishReasons]: [finishReasons[stop] ?? stop],
    [names.calls]: calls.length,
    [names.outputMessages]: options.content ? outputMessages(text, calls) : undefined,
  }
  return [attemptSpan(turn, message, options, { attempt, end: time, attributes })]
}

function attemptSpan(
  { view: { agent } }: OpenTurn,
  id: TurnId,
  { modelOf }: SpanOptions,
  { attempt, end, attributes, failure }: Ended,
): Span {
  const { round, number, start } = attempt
  const model = agent === undefined ? undefined : modelOf(agent)
  return {
    ...childOf(id),
    id: placeSpanId(id, `attempt ${round} ${number}`),
    name: named(operations.attempt, model?.name),
    kind: 'client',
    start,
    end,
    attributes: {
      ...common(id, operations.attempt),
      [names.round]: round,
      [names.provider]: model?.provider,
      [names.model]: model?.name,
      [names.errorType]: failure?.type,
      ...attributes,
    },
    error: failure?.reason,
  }
}

function finishedCall(
  turn: OpenTurn,
  message: MessageOf<'call-finished'>,
  time: Milliseconds,
  { content }: SpanOptions,
): Span[] {
  const { status, name, reason, durationMs, round, ordinal, result } = message
  // It never ran, so it has no span: a span of a tool means that the tool ran.
  const ran = status !== 'denied' && status !== 'skipped'
  if (!ran)
    return noted(turn, eventNames.denied, time, {
      [names.round]: round,
      [names.tool]: name,
      [names.detail]: `${status}: ${reason}`,
    })
  const call = turn.view.rounds.get(round)?.calls.get(ordinal)
  const input = call?.answered
  const failure = content ? reason : status
  return [
    {
      ...childOf(message),
      id: callSpanId(message),
      name: named(operations.call, name),
      kind: 'internal',
      start: call?.startedAt ?? call?.offered?.at ?? time - durationMs,
      end: time,
      attributes: {
        ...common(message, operations.call),
        [names.round]: round,
        [names.tool]: name,
        [names.call]: input?.id === '' ? undefined : input?.id,
        [names.outcome]: status,
        [names.errorType]: status === 'ok' ? undefined : status,
        [names.arguments]: content ? input?.arguments : undefined,
        [names.result]: content ? result : undefined,
      },
      error: status === 'ok' ? undefined : failure,
    },
  ]
}

function finishedTurn(
  turn: OpenTurn,
  message: MessageOf<'turn-finished'>,
  time: Milliseconds,
  options: SpanOptions,
): Span[] {
  const { outcome, class: failureClass, cap, totals, reason } = message
  const { agent, startedAt: start = time - totals.wallMs, round, rounds } = turn.view
  const attempt = openAttempt(rounds.get(round))
  const failed = outcome !== 'answered'
  const type = failureClass ?? outcome
  const error = options.content ? reason : type
  const spans: Span[] = []
  // A budget refuses a request before it is sent, so there is no attempt. A cap may end one.
  const isSent = failureClass !== 'budget' || cap !== null
  if (attempt !== undefined && attempt.start <= time && isSent) {
    const ended = { attempt, end: time, failure: { type, reason: type } }
    spans.push(attemptSpan(turn, message, options, ended))
  }
  const caller = callOfConversation(message.conversation)
  spans.push({
    trace: traceIdOf(message),
    id: turnSpanId(message),
    parent: caller === undefined ? undefined : callSpanId(caller),
    name: named(operations.turn, agent),
    kind: 'internal',
    start,
    end: time,
    attributes: {
      ...common(message, operations.turn),
      [names.agent]: agent,
      [names.session]: message.conversation,
      [names.outcome]: outcome,
      [names.cap]: cap ?? undefined,
      [names.errorType]: failed ? type : undefined,
      [names.rounds]: totals.rounds,
      [names.calls]: totals.calls,
      [names.inputTokens]: totals.inputTokens,
      [names.outputTokens]: totals.outputTokens,
    },
    events: turn.events,
    error: failed ? error : undefined,
  })
  return spans
}

/** The open attempt, or one without length if its beginning was not read. */
function attemptOf({ view }: OpenTurn, round: number, time: Milliseconds): Attempt {
  return openAttempt(view.rounds.get(round)) ?? { round, number: 1, start: time }
}

/** Undefined: the round has its response, or its beginning was not read. */
function openAttempt(view: RoundView | undefined): Attempt | undefined {
  if (view === undefined || view.stage['model-answered'] !== undefined) return undefined
  const { round, retry, stage } = view
  const start = retry === undefined ? stage['round-started']?.time : retry.at + retry.waitMs
  return start === undefined ? undefined : { round, number: retry?.next ?? 1, start }
}

function noted(turn: OpenTurn, name: string, time: Milliseconds, attributes: Attributes): [] {
  if (turn.events.length < eventsMax) turn.events.push({ name, time, attributes })
  return []
}

function guardSpan(
  turn: OpenTurn,
  message: MessageOf<'guard-verdict-given'>,
  time: Milliseconds,
): Span {
  const { guard, version, answer, waitedMs, round } = message
  return {
    ...childOf(message),
    id: placeSpanId(message, `guard ${round} ${guard}`),
    name: named(operations.guard, guard),
    kind: 'internal',
    start: time - waitedMs,
    end: time,
    attributes: {
      ...common(message, operations.guard),
      [names.agent]: turn.view.agent,
      [names.round]: round,
      [names.guard]: guard,
      [names.guardVersion]: version,
      [names.guardAnswer]: answer,
      [names.guardDenied]: deniedBy(message).length,
      [names.errorType]: answer === 'verdicts' ? undefined : answer,
    },
    error: answer === 'verdicts' ? undefined : `the guard was ${answer}`,
  }
}

function approvalSpan(
  turn: OpenTurn,
  message: MessageOf<'approval-decided'>,
  time: Milliseconds,
): Span {
  const { ordinal, round, name, id, outcome, by, waitedMs } = message
  return {
    ...childOf(message),
    id: placeSpanId(message, `approval ${round} ${ordinal} ${id}`),
    name: named(operations.approval, name),
    kind: 'internal',
    start: time - waitedMs,
    end: time,
    attributes: {
      ...common(message, operations.approval),
      [names.agent]: turn.view.agent,
      [names.round]: round,
      [names.tool]: name,
      [names.approvalOutcome]: outcome,
      [names.approvalBy]: by === '' ? undefined : by,
    },
  }
}

function childOf(id: TurnId): Pick<Span, 'trace' | 'parent'> {
  return { trace: traceIdOf(id), parent: turnSpanId(id) }
}

function common({ conversation, turn }: TurnId, operation: string): Attributes {
  return {
    [names.operation]: operation,
    [names.conversation]: conversation,
    [names.turn]: turn,
  }
}

function named(operation: string, what: string | undefined): string {
  return what === undefined ? operation : `${operation} ${what}`
}

function outputMessages(text: string, calls: MessageOf<'model-answered'>['calls']): string {
  const parts = [
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...calls.map(({ id, name, arguments: input }) => ({
      type: 'tool_call',
      id,
      name,
      arguments: input,
    })),
  ]
  return JSON.stringify([{ role: 'assistant', parts }])
}
