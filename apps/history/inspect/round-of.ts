// One round of a turn: the request, the attempts, the response, the results of its calls, and the
// duration of each part.

import type { Response } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { notDefault } from '../effective.ts'
import { callOf } from './call-of.ts'
import { guardsOf, questionsOf } from './guards-of.ts'
import { all, first, type Logged } from './logged.ts'
import type {
  AttemptTimeline,
  HintsTimeline,
  InterventionTimeline,
  PolicyTimeline,
  ResponseTimeline,
  RoundTimeline,
} from './timeline.ts'

/** `own`: all records of the round, in order. */
export function roundOf(
  round: number,
  own: Logged[],
  { reasoning }: { reasoning: boolean },
): RoundTimeline {
  const request = first(own, 'model-request')
  const finished = first(own, 'model-finished')
  const outcome = first(own, 'round-outcome')
  const entry = first(own, 'history-entry')
  const failure = outcome?.message.failure ?? finished?.message.failure ?? null
  const response = failure === null ? responseOf(own) : undefined
  const endedAt = outcome?.time ?? entry?.time ?? null
  const questions = questionsOf(own)
  return {
    round,
    askedAt: request?.time ?? null,
    callsLeft: request?.message.callsLeft ?? null,
    nudge: request?.message.nudge ?? entry?.message.nudge ?? null,
    offered: first(own, 'model-opened')?.message.offered ?? [],
    attempts: attemptsOf(own),
    response: response === undefined ? null : shownResponse(response, own, reasoning),
    failure,
    note: entry?.message.note ?? null,
    calls: (response?.calls ?? []).map((call) => callOf(call, own)),
    guards: guardsOf(own),
    ...(questions.length > 0 && { questions }),
    policy: stampedPolicy(own),
    hints: declaredHints(own),
    intervention: interventionOf(own),
    shadowed: all(own, 'intervention-raised')
      .filter(({ message }) => message.shadow)
      .map(({ time, message }) => ({ at: time, ...message.intervention })),
    cancelledAt: first(own, 'cancel')?.time ?? null,
    endedAt,
    times: timesOf(own, endedAt),
  }
}

/** The response from the latest stage that has it. */
function responseOf(own: Logged[]): Response | undefined {
  const [outcome] = all(own, 'round-outcome')
  const [folded] = all(own, 'round-proposed', 'round-checked')
  return (
    outcome?.message.response ??
    folded?.message.response ??
    first(own, 'history-entry')?.message.response ??
    undefined
  )
}

function shownResponse(response: Response, own: Logged[], isShown: boolean): ResponseTimeline {
  const { attempt, text, reasoning, stop, finish, usage } = response
  const textCalls = response.textCalls && {
    ...response.textCalls,
    text: streamed('text', attempt, own),
  }
  const textCallsMode = first(own, 'model-finished')?.message.textCalls ?? null
  const shown = { text, stop, finish, usage, textCalls, textCallsMode }
  if (reasoning === '') return { ...shown, reasoning: null }
  const thoughts = streamed('reasoning', attempt, own)
  const summary = {
    bytes: Buffer.byteLength(reasoning),
    characters: thoughts.length,
    text: isShown ? thoughts : null,
  }
  return { ...shown, reasoning: summary }
}

/** All text of one kind in an attempt, as it was streamed. */
function streamed(kind: 'text' | 'reasoning', attempt: string, own: Logged[]): string {
  return all(own, 'part')
    .filter(({ message }) => message.attempt === attempt)
    .flatMap(({ message }) => message.events.filter((event) => event.kind === kind))
    .map((event) => event.text)
    .join('')
}

// ── Attempts ──

function attemptsOf(own: Logged[]): AttemptTimeline[] {
  const ids = all(own, 'attempt-started', 'attempt-failed', 'attempt-finished').map(
    ({ message }) => message.attempt,
  )
  return [...new Set(ids)].map((id) => attemptOf(id, own))
}

function attemptOf(attempt: string, own: Logged[]): AttemptTimeline {
  const mine = own.filter(
    ({ message }) => message !== undefined && 'attempt' in message && message.attempt === attempt,
  )
  const decided = first(own, 'model-finished')
  const failed = first(mine, 'attempt-failed')
  const finished = first(mine, 'attempt-finished')
  const isAnswer =
    decided === undefined
      ? finished !== undefined
      : decided.message.failure === null && decided.message.attempt === attempt
  const silent = decided === undefined ? 'open' : 'abandoned'
  const whole = isAnswer ? 'answer' : 'unused'
  const unfailed = finished === undefined ? silent : whole
  return {
    attempt,
    startedAt: first(mine, 'attempt-started')?.time ?? null,
    firstPartAt: first(mine, 'part')?.time ?? null,
    endedAt: (failed ?? finished)?.time ?? null,
    end: failed === undefined ? unfailed : 'failed',
    failure: failed === undefined ? null : failureOf(failed.message),
  }
}

function failureOf({
  reason,
  class: failure,
  retryable,
  retryAfterMs,
}: NonNullable<AttemptTimeline['failure']>) {
  return { reason, class: failure, retryable, retryAfterMs }
}

// ── Policy, hints, intervention, times ──

/** The gateway's stamp. Later changes of the policy do not affect it. */
function stampedPolicy(own: Logged[]): PolicyTimeline | null {
  const [stamped] = all(own, 'round-proposed', 'round-checked', 'round-outcome')
  if (stamped === undefined) return null
  const { policy } = stamped.message
  return { version: policy.version, differs: notDefault(policy) }
}

/** The declarations of the called tools, from the proposed round. */
function declaredHints(own: Logged[]): Record<string, HintsTimeline> {
  const declarations =
    first(own, 'round-proposed')?.message.declarations ??
    first(own, 'round-checked')?.message.declarations ??
    []
  return Object.fromEntries(
    declarations.flatMap(({ name, poll, hints }) => {
      const { mutates = null, ignoreFields = [], loopKey = [] } = hints ?? {}
      const isDeclared = poll || mutates !== null || ignoreFields.length + loopKey.length > 0
      return isDeclared ? [[name, { poll, mutates, ignoreFields, loopKey }]] : []
    }),
  )
}

/** From the outcome, which reaches the conversation. The activity may have it a moment earlier. */
function interventionOf(own: Logged[]): InterventionTimeline | null {
  const found = all(own, 'round-outcome', 'intervention-raised').find(
    ({ message }) => message.intervention !== null && !('shadow' in message && message.shadow),
  )
  return found?.message.intervention ? { at: found.time, ...found.message.intervention } : null
}

function timesOf(own: Logged[], endedAt: Milliseconds | null): RoundTimeline['times'] {
  const requested = first(own, 'model-request')?.time
  const answered = first(own, 'model-finished')?.time
  const cleared = first(own, 'round-cleared')?.time
  const executed = first(own, 'round-executed')?.time
  const ended = endedAt ?? undefined
  const before = between(answered, cleared ?? ended)
  const after = cleared === undefined ? 0 : between(executed, ended)
  return {
    modelMs: between(requested, answered),
    checksMs: before === null || after === null ? null : before + after,
    toolsMs: between(cleared, executed),
  }
}

/** Never negative, although the clocks of two partitions may differ slightly. */
function between(
  from: Milliseconds | undefined,
  to: Milliseconds | undefined,
): Milliseconds | null {
  return from === undefined || to === undefined ? null : Math.max(0, to - from)
}
