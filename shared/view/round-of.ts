// The timeline of one round: the request, the attempts, the response, the results of its calls, and the
// duration of each part. Pure.

import type { ModelFinished, Policy, Response } from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { callOf } from './call-of.ts'
import { guardsOf, questionsOf } from './guards-of.ts'
import { type AttemptView, type RoundView, responseOf } from './round-view.ts'
import type {
  AttemptTimeline,
  HintsTimeline,
  PolicyTimeline,
  ResponseTimeline,
  RoundTimeline,
} from './timeline.ts'

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
  const { round, stage, calls, intervention = null, shadowed } = view
  const { 'model-request': request, 'model-finished': chosen, 'round-outcome': outcome } = stage
  const { 'history-entry': kept } = stage
  const failure = outcome?.message.failure ?? chosen?.message.failure ?? null
  const response = failure === null ? responseOf(view) : undefined
  const questions = questionsOf(view)
  return {
    round,
    askedAt: request?.time ?? null,
    callsLeft: request?.message.callsLeft ?? null,
    nudge: request?.message.nudge ?? kept?.message.nudge ?? null,
    offered: stage['model-opened']?.message.offered ?? [],
    attempts: view.attempts.flatMap((attempt) => attemptOf(attempt, view) ?? []),
    response: response === undefined ? null : shownResponse(response, view, options),
    failure,
    note: kept?.message.note ?? null,
    calls: (response?.calls ?? []).map((call) => ({
      ...callOf(call, calls.get(call.ordinal), view),
      ...(waits?.has(call.ordinal) && { waits: true as const }),
    })),
    guards: guardsOf(view),
    ...(questions.length > 0 && { questions }),
    policy: policyOf(view, options),
    hints: declaredHints(view),
    intervention,
    shadowed,
    cancelledAt: stage.cancel?.time ?? null,
    endedAt: outcome?.time ?? kept?.time ?? null,
    times: timesOf(view),
  }
}

function shownResponse(
  { attempt, text, reasoning, stop, finish, usage, textCalls: found }: Response,
  { attempts, stage }: RoundView,
  options: RoundOptions,
): ResponseTimeline {
  const { streamed } = attempts.find((one) => one.attempt === attempt) ?? {}
  const { text: sent = '', reasoning: thoughts = '' } = streamed ?? {}
  const textCalls = found && { ...found, text: sent }
  const textCallsMode = stage['model-finished']?.message.textCalls ?? null
  const shown = { text, stop, finish, usage, textCalls, textCallsMode }
  if (reasoning === '') return { ...shown, reasoning: null }
  const summary = {
    bytes: Buffer.byteLength(reasoning),
    characters: thoughts.length,
    text: options.reasoning ? thoughts : null,
  }
  return { ...shown, reasoning: summary }
}

/** Undefined: only its parts are known. */
function attemptOf(
  { attempt, waiting, startedAt, finishedAt, failed, streamed }: AttemptView,
  { stage }: RoundView,
): AttemptTimeline | undefined {
  if ((startedAt ?? finishedAt ?? failed ?? waiting) === undefined) return undefined
  const { 'model-finished': chosen } = stage
  return {
    attempt,
    startedAt: startedAt ?? null,
    firstPartAt: streamed?.firstAt ?? null,
    endedAt: failed?.at ?? finishedAt ?? null,
    end:
      failed === undefined ? endOf(attempt, finishedAt !== undefined, chosen?.message) : 'failed',
    failure: failed === undefined ? null : failureOf(failed),
    ...(waiting !== undefined && { wait: waitOf(waiting) }),
  }
}

function waitOf({ at, reason, waitMs }: NonNullable<AttemptView['waiting']>) {
  return { at, reason, waitMs }
}

/** Of an attempt that did not fail. */
function endOf(
  attempt: string,
  isFinished: boolean,
  chosen: ModelFinished | undefined,
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

/** The gateway's stamp. Later changes of the policy do not affect it. */
function policyOf({ stage }: RoundView, { differs }: RoundOptions): PolicyTimeline | null {
  const stamped = stage['round-proposed'] ?? stage['round-checked'] ?? stage['round-outcome']
  if (stamped === undefined) return null
  const { policy } = stamped.message
  return { version: policy.version, differs: differs(policy) }
}

const none = { declarations: [] }

/** The declarations of the called tools, from the proposed round. */
function declaredHints({ stage }: RoundView): Record<string, HintsTimeline> {
  const { declarations } = (stage['round-proposed'] ?? stage['round-checked'])?.message ?? none
  return Object.fromEntries(
    declarations.flatMap(({ name, poll, hints }) => {
      const { mutates = null, ignoreFields = [], loopKey = [] } = hints ?? {}
      const isDeclared = poll || mutates !== null || ignoreFields.length + loopKey.length > 0
      return isDeclared ? [[name, { poll, mutates, ignoreFields, loopKey }]] : []
    }),
  )
}

function timesOf({ stage }: RoundView): RoundTimeline['times'] {
  const answered = stage['model-finished']?.time
  const cleared = stage['round-cleared']?.time
  const executed = stage['round-executed']?.time
  const ended = stage['round-outcome']?.time ?? stage['history-entry']?.time
  const before = between(answered, cleared ?? ended)
  const after = cleared === undefined ? 0 : between(executed, ended)
  return {
    modelMs: between(stage['model-request']?.time, answered),
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
