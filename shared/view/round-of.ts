// The timeline of one round: the request, the attempts, the response, the results of its calls, and the
// duration of each part. Pure.

import type { Policy, Response } from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { callOf } from './call-of.ts'
import { guardsOf, questionsOf } from './guards-of.ts'
import type { AttemptView, RoundView } from './round-view.ts'
import type { AttemptTimeline, HintsTimeline, ResponseTimeline, RoundTimeline } from './timeline.ts'

/**
 * `reasoning`: with the full text of the model's reasoning. `differs`: the values of a policy that
 * differ from the defaults.
 */
export type RoundOptions = {
  reasoning: boolean
  differs: (policy: Policy) => Record<string, string | null>
}

/** `waits`: the ordinals of its waits. */
export function roundOf(
  view: RoundView,
  waits: ReadonlySet<number> | undefined,
  options: RoundOptions,
): RoundTimeline {
  const { round, failure, policy, chosen, kept, calls, intervention = null, shadowed } = view
  const response = failure === null ? view.response : undefined
  const endedAt = view.outcomeAt ?? kept?.at ?? null
  const questions = questionsOf(view)
  return {
    round,
    askedAt: view.requestedAt ?? null,
    callsLeft: view.requestedAt === undefined ? null : (view.callsLeft ?? null),
    nudge: view.nudge,
    offered: view.offered ?? [],
    attempts: [...view.attempts].map(([id, attempt]) => attemptOf(id, attempt, view)),
    response: response === undefined ? null : shownResponse(response, view, options),
    failure,
    note: kept?.note ?? null,
    calls: (response?.calls ?? []).map((call) => ({
      ...callOf(call, calls.get(call.ordinal), view),
      ...(waits?.has(call.ordinal) && { waits: true as const }),
    })),
    guards: guardsOf(view),
    ...(questions.length > 0 && { questions }),
    policy:
      policy === undefined ? null : { version: policy.version, differs: options.differs(policy) },
    hints: declaredHints(view),
    intervention,
    shadowed,
    cancelledAt: view.cancelledAt ?? null,
    endedAt,
    times: timesOf(view, endedAt ?? undefined, chosen?.at),
  }
}

function shownResponse(
  { attempt, text, reasoning, stop, finish, usage, textCalls: found }: Response,
  { streamed, chosen }: RoundView,
  options: RoundOptions,
): ResponseTimeline {
  const { text: sent = '', reasoning: thoughts = '' } = streamed.get(attempt) ?? {}
  const textCalls = found && { ...found, text: sent }
  const shown = { text, stop, finish, usage, textCalls, textCallsMode: chosen?.textCalls ?? null }
  if (reasoning === '') return { ...shown, reasoning: null }
  const summary = {
    bytes: Buffer.byteLength(reasoning),
    characters: thoughts.length,
    text: options.reasoning ? thoughts : null,
  }
  return { ...shown, reasoning: summary }
}

function attemptOf(
  attempt: string,
  { startedAt, finishedAt, failed }: AttemptView,
  { chosen, streamed }: RoundView,
): AttemptTimeline {
  return {
    attempt,
    startedAt: startedAt ?? null,
    firstPartAt: streamed.get(attempt)?.firstAt ?? null,
    endedAt: failed?.at ?? finishedAt ?? null,
    end: failed === undefined ? endOf(attempt, finishedAt !== undefined, chosen) : 'failed',
    failure: failed === undefined ? null : failureOf(failed),
  }
}

/** Of an attempt that did not fail. */
function endOf(
  attempt: string,
  isFinished: boolean,
  chosen: RoundView['chosen'],
): AttemptTimeline['end'] {
  if (!isFinished) return chosen === undefined ? 'open' : 'abandoned'
  if (chosen === undefined) return 'answer'
  return chosen.failure === null && chosen.attempt === attempt ? 'answer' : 'unused'
}

function failureOf({
  reason,
  class: failure,
  retryable,
  retryAfterMs,
}: NonNullable<AttemptTimeline['failure']>) {
  return { reason, class: failure, retryable, retryAfterMs }
}

/** The declarations of the called tools, from the proposed round. */
function declaredHints({ declarations = [] }: RoundView): Record<string, HintsTimeline> {
  return Object.fromEntries(
    declarations.flatMap(({ name, poll, hints }) => {
      const { mutates = null, ignoreFields = [], loopKey = [] } = hints ?? {}
      const isDeclared = poll || mutates !== null || ignoreFields.length + loopKey.length > 0
      return isDeclared ? [[name, { poll, mutates, ignoreFields, loopKey }]] : []
    }),
  )
}

function timesOf(
  { requestedAt, cleared, executedAt }: RoundView,
  endedAt: Milliseconds | undefined,
  answeredAt: Milliseconds | undefined,
): RoundTimeline['times'] {
  const before = between(answeredAt, cleared?.at ?? endedAt)
  const after = cleared === undefined ? 0 : between(executedAt, endedAt)
  return {
    modelMs: between(requestedAt, answeredAt),
    checksMs: before === null || after === null ? null : before + after,
    toolsMs: between(cleared?.at, executedAt),
  }
}

/** Never negative, although the clocks of two partitions may differ slightly. */
function between(
  from: Milliseconds | undefined,
  to: Milliseconds | undefined,
): Milliseconds | null {
  return from === undefined || to === undefined ? null : Math.max(0, to - from)
}
