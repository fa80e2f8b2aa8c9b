// llm-gateway: gets one answer of the model for each round, by one attempt after another.
// Reads: model-requests. Writes: model-opened and model-finished to model-deltas, model-retry to
// activity.
// Owns: an open round from its request to model-finished, its failed attempts, and the time of the
// next attempt.
// Does not own: calling the provider (performer.ts), folding an answer's parts (accumulator), the
// turn's caps (conversation).
//
// A round writes model-opened when it opens and model-finished when it closes, once each:
// the accumulator's unit lives exactly between.
// The first attempt-finished while the round is open is the answer, from any owner. Parts
// play no role here, so two attempts cannot mix.
// Only attempt-failed counts as a try, and each attempt once. An attempt without an end
// costs nothing: its owner is gone, and the next owner starts another at once.
// Nothing starts at or after expiresAt. A cancel that comes before its round is remembered
// until then; otherwise the round would run afterwards.
// GATE-5. A refused history is rebuilt once, refused reasoning answered once, a forbidden call made
//     plain text once, a full context shortened some times, beyond the tries (I5.4). Then it ends.

import { roundIdOf, roundKey } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  AttemptFinished,
  AttemptStarted,
  Cancel,
  FailureClass,
  ModelFinished,
  ModelRequest,
  ReasoningRefusal,
  Tick,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import { noUsage } from '../../shared/contract/turn/no-usage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'

/** How often a round shortens the history because the model's context is full. */
export const historyShorteningsMax = 3

/**
 * `failed`: ids of the failed attempts. `retryAt`: the append time from which the next attempt is
 * wanted, or null for now.
 * `rebuilt`: the provider refused the history, so attempts send it rebuilt.
 * `plain`: it refused a request in which no tool may be called, so attempts send plain text.
 * `reasoningRefused`: it refused the history's reasoning, so attempts answer that.
 * `degenerate`: an attempt repeated itself without end, so the next one reminds the model.
 * `answered`: failed attempts whose refusal changed the form of the next ones. They cost no try.
 */
export type OpenRound = {
  phase: 'open'
  request: ModelRequest
  failed: string[]
  retryAt: Milliseconds | null
  rebuilt: boolean
  plain: boolean
  reasoningRefused: ReasoningRefusal
  degenerate: boolean
  answered: number
  /** How often the history was shortened because the context was full. */
  shortened: number
}

/** A cancel without its round. */
export type CancelledRound = { phase: 'cancelled'; expiresAt: Milliseconds }

export type Round = OpenRound | CancelledRound

/**
 * The attempt that is wanted now. `failures`: the number of failed attempts before it. `key`
 * contains it too, so each attempt is another task.
 */
export type AttemptTask = Pick<
  OpenRound,
  'request' | 'rebuilt' | 'plain' | 'reasoningRefused' | 'degenerate'
> & {
  key: string
  failures: number
  /** Undefined: 0. */
  shortened?: number
}

type Inbox = ModelRequest | Cancel | AttemptStarted | AttemptFailed | AttemptFinished | Tick

export const llmGateway: Stage<Round, Inbox, AttemptTask> = {
  name: 'llm-gateway',
  actsAhead: true,

  unit: (message) => (message.type === 'tick' ? message.unit : roundKey(message)),

  react(round, { message, time }) {
    switch (message.type) {
      case 'model-request':
        if (round?.phase === 'open') return { state: round }
        if (round?.phase === 'cancelled')
          return { records: [opened(message), failedRound(message, cancelled)] }
        if (time >= message.expiresAt)
          return { records: [opened(message), failedRound(message, expired)] }
        return {
          state: {
            phase: 'open',
            request: message,
            failed: [],
            retryAt: null,
            rebuilt: false,
            plain: false,
            reasoningRefused: 'none',
            degenerate: false,
            answered: 0,
            shortened: 0,
          },
          records: [opened(message)],
        }

      case 'cancel':
        if (round?.phase === 'open') return { records: [failedRound(round.request, cancelled)] }
        if (round?.phase === 'cancelled') return { state: round }
        return message.round === 0 || time >= message.expiresAt
          ? closed
          : { state: { phase: 'cancelled', expiresAt: message.expiresAt } }

      case 'attempt-started':
        return { state: round }

      case 'attempt-failed': {
        if (round?.phase !== 'open' || round.failed.includes(message.attempt))
          return { state: round }
        round.failed.push(message.attempt)
        if (message.historyShortened) return sentShorter(round, message, time)
        const { historyRefused, toolsRefused, reasoningRefused } = message
        if (historyRefused || toolsRefused || reasoningRefused !== 'none')
          return sentOtherwise(round, message, time)
        const isDegenerate = message.class === 'degenerate'
        const retryAt = Math.max(round.retryAt ?? 0, time + retryDelay(message))
        const again =
          message.retryable &&
          triesIn(round) < triesOf(round.request) &&
          retryAt < round.request.expiresAt
        if (!again) return { records: [failedRound(round.request, message)] }
        return {
          state: { ...round, retryAt, degenerate: round.degenerate || isDegenerate },
          records: [retrying(round, message, retryAt - time)],
        }
      }

      case 'attempt-finished':
        return round?.phase === 'open'
          ? { records: [answered(round.request, message)] }
          : { state: round }

      case 'tick':
        if (round?.phase !== 'open') return closed
        return time >= round.request.expiresAt
          ? { records: [failedRound(round.request, expired)] }
          : { state: { ...round, retryAt: null } }

      default:
        return unreachable(message)
    }
  },

  wants: (round) => (round.phase === 'open' && round.retryAt === null ? [nextAttempt(round)] : []),

  due(round) {
    if (round.phase === 'cancelled') return round.expiresAt
    return Math.min(round.request.expiresAt, round.retryAt ?? Number.POSITIVE_INFINITY)
  },

  failed: () => closed,
}

/** Keeps GATE-5. An attempt that was under way when another one was refused adds nothing new. */
function sentOtherwise(
  round: OpenRound,
  failed: AttemptFailed,
  time: Milliseconds,
): Reaction<Round> {
  const { historyRefused, toolsRefused, reasoningRefused: refused } = failed
  if (time >= round.request.expiresAt) return { records: [failedRound(round.request, expired)] }
  const rebuilt = round.rebuilt || historyRefused
  const plain = round.plain || toolsRefused
  const reasoningRefused = round.reasoningRefused === 'none' ? refused : round.reasoningRefused
  const isNew =
    rebuilt !== round.rebuilt ||
    plain !== round.plain ||
    reasoningRefused !== round.reasoningRefused
  const retryAt = isNew ? null : round.retryAt
  const answered = round.answered + (isNew ? 1 : 0)
  return {
    state: { ...round, rebuilt, plain, reasoningRefused, retryAt, answered },
    records: [retrying(round, failed, Math.max(0, (retryAt ?? time) - time))],
  }
}

/** Keeps GATE-5 for a full context. */
function sentShorter(
  round: OpenRound,
  message: AttemptFailed,
  time: Milliseconds,
): Reaction<Round> {
  if (time >= round.request.expiresAt) return { records: [failedRound(round.request, expired)] }
  if (round.shortened >= historyShorteningsMax)
    return { records: [failedRound(round.request, message)] }
  return {
    state: { ...round, shortened: round.shortened + 1, retryAt: null },
    records: [retrying(round, message, 0)],
  }
}

type Reason = { class: FailureClass; reason: string }

const cancelled: Reason = { class: 'cancelled', reason: 'the turn was cancelled' }
const expired: Reason = {
  class: 'budget',
  reason: 'the time of the turn was over before the model had answered',
}

function triesOf(request: ModelRequest): number {
  return Math.min(request.settings.attempts, limits.attemptsMax)
}

/** The provider's wait, bounded: a message must not set a wait of years, or one in the past. */
function retryDelay(failed: AttemptFailed): Milliseconds {
  return Math.min(Math.max(failed.retryAfterMs, 0), limits.retryAfterMsMax)
}

/** Keeps GATE-5: an answered refusal and a shortened history cost no try. */
function triesIn({ failed, answered, shortened }: OpenRound): number {
  return failed.length - answered - shortened
}

function nextAttempt(round: OpenRound): AttemptTask {
  const { request, failed, rebuilt, plain, reasoningRefused, degenerate, shortened } = round
  const form = {
    rebuilt,
    plain,
    reasoningRefused,
    degenerate,
    ...(shortened > 0 && { shortened }),
  }
  return { key: `attempt ${failed.length}`, request, failures: failed.length, ...form }
}

function opened(request: ModelRequest): Output {
  return {
    to: 'response',
    message: {
      type: 'model-opened',
      ...roundIdOf(request),
      offered: request.tools.map((tool) => tool.name),
      expiresAt: request.expiresAt,
    },
  }
}

function retrying(round: OpenRound, failed: AttemptFailed, waitMs: Milliseconds): Output {
  const { attempt, reason } = failed
  return {
    to: 'activity',
    message: redactedActivity(
      {
        type: 'model-retry',
        ...roundIdOf(failed),
        attempt,
        next: round.failed.length + 1,
        reason,
        waitMs,
      },
      round.request.settings.policy.redact,
    ),
  }
}

function answered(request: ModelRequest, finished: AttemptFinished): Output {
  const { attempt, parts, finish, stop, usage, declarations, policy } = finished
  const { callsAsText, textCalls, echoOf, rest } = finished
  return modelFinished(request, {
    attempt,
    parts,
    finish,
    stop,
    usage,
    declarations,
    policy,
    callsAsText,
    textCalls,
    echoOf,
    rest,
    failure: null,
  })
}

/**
 * No attempt succeeded. Nothing of the round may run, and the agent's settings decide how the turn
 * ends.
 */
function failedRound(request: ModelRequest, { class: failureClass, reason }: Reason): Output {
  return modelFinished(request, {
    attempt: '',
    parts: 0,
    finish: '',
    stop: 'other',
    usage: noUsage,
    declarations: [],
    policy: request.settings.policy,
    callsAsText: false,
    textCalls: null,
    echoOf: null,
    rest: [],
    failure: { class: failureClass, reason },
  })
}

type Answer = Pick<
  ModelFinished,
  | 'attempt'
  | 'parts'
  | 'finish'
  | 'stop'
  | 'usage'
  | 'declarations'
  | 'policy'
  | 'callsAsText'
  | 'textCalls'
  | 'echoOf'
  | 'rest'
  | 'failure'
>

function modelFinished(request: ModelRequest, answer: Answer): Output {
  const { agent, callsLeft, expiresAt } = request
  return {
    to: 'response',
    message: {
      type: 'model-finished',
      ...roundIdOf(request),
      ...answer,
      agent,
      callsLeft,
      expiresAt,
    },
  }
}
