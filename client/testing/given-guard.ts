// A guard without a pipeline: given these rounds, this is its answer to the next one. The answer is
// checked as in production, and its state passes through JSON as in production.

import type {
  AnyGuard,
  EndedCall,
  Guard,
  GuardedRound,
  JsonObject,
  Verdict,
} from '../../shared/contract/guard/guard.ts'
import type { ArgumentSource, ToolHints } from '../../shared/contract/messages.ts'
import { answeredBy } from '../../shared/runtime/guards/judgement.ts'
import { matchesPattern } from '../../shared/runtime/guards/tool-pattern.ts'
import { kindOf } from '../../shared/settings/mistake.ts'
import { guardMistakes } from '../guards/guard-mistakes.ts'

/** A call. `arguments`: default {}. `schema`: that of the tool; default: any object. */
export type GivenCall = {
  name: string
  arguments?: JsonObject
  description?: string
  schema?: JsonObject
  hints?: ToolHints
  /** Whether the guard enforces for it. Default: true. */
  enforced?: boolean
  /** `text`: the model wrote the call as text. Default: a native call. */
  source?: ArgumentSource
}

/**
 * A round, or only its calls. `at`: its time, in milliseconds since the epoch or as an ISO date.
 * Default: one minute after the round before, and 2026-01-01 for the first.
 */
export type GivenRound =
  | readonly GivenCall[]
  | {
      calls: readonly GivenCall[]
      at?: number | string
      agent?: string
      conversation?: string
      turn?: number
      /** The ends of earlier calls, for a guard that sees ends. Default: none. */
      ended?: readonly EndedCall[]
    }

export type JudgedRound<State = unknown> = {
  /** By the order of the calls that the guard is registered for. */
  verdicts: Verdict[]
  intervention: { reason: string; text: string } | undefined
  /** Its memory after this round. */
  state: State | undefined
  /** The guard's answer to the round that follows. */
  when(round: GivenRound): JudgedRound<State>
}

const firstTime = Date.UTC(2026, 0, 1)

/**
 * Judges these rounds of one conversation in order, and the result answers for the last one.
 * Throws an Error for an external guard and one that cannot be registered, for a round without a call of its tools, and
 * for an answer that Weir would refuse.
 */
export function given<State>(
  guard: Guard<State>,
  ...rounds: readonly GivenRound[]
): JudgedRound<State> {
  if (typeof guard !== 'object' || guard === null)
    throw new Error(`the guard is ${guard === undefined ? 'missing' : kindOf(guard)}`)
  const mistakes = guardMistakes(guard)
  if (mistakes.length > 0) throw new Error(`the guard cannot be registered: ${mistakes.join('; ')}`)
  if ((guard as AnyGuard).external)
    throw new Error(
      'given judges no external guard, because it may answer later: await its judge(undefined, round, { signal })',
    )
  return rounds.reduce<JudgedRound<State>>(
    (judged, round) => judged.when(round),
    judgedAs(guard, { state: undefined, verdicts: [], intervention: undefined }, []),
  )
}

type Answer = Pick<JudgedRound, 'verdicts' | 'intervention'> & { state: string | undefined }

function judgedAs<State>(
  guard: Guard<State>,
  answer: Answer,
  before: readonly number[],
): JudgedRound<State> {
  return {
    ...answer,
    state: answer.state === undefined ? undefined : (JSON.parse(answer.state) as State),
    when(given) {
      const round = roundOf(guard, given, before)
      const state = answer.state === undefined ? undefined : JSON.parse(answer.state)
      const judged = answeredBy(guard.judge(state, round), round)
      if (judged.fault !== undefined)
        throw new Error(`Weir would not accept the answer: ${judged.fault}`)
      const { intervention } = judged
      const next = {
        state: judged.state,
        verdicts: judged.verdicts.map(
          ({ ordinal, verdict, code, text, evidence }): Verdict =>
            verdict === 'allow'
              ? { ordinal, verdict }
              : { ordinal, verdict, code, text, ...(evidence !== null && { evidence }) },
        ),
        intervention:
          intervention === null
            ? undefined
            : { reason: intervention.reason, text: intervention.text },
      }
      return judgedAs(guard, next, [...before, round.time])
    },
  }
}

function roundOf(
  guard: Pick<Guard, 'tools'>,
  given: GivenRound,
  before: readonly number[],
): GuardedRound {
  const whole = 'calls' in given ? given : { calls: given }
  const { calls, at, agent = 'test', conversation = 'test', turn = 0, ended = [] } = whole
  const time =
    typeof at === 'string' ? Date.parse(at) : (at ?? (before.at(-1) ?? firstTime - 60_000) + 60_000)
  if (!Number.isFinite(time)) throw new Error(`${at} is no time; write an ISO date or milliseconds`)
  const judged = calls.flatMap((call, ordinal) =>
    guard.tools.some((pattern) => matchesPattern(pattern, call.name)) ? [{ ...call, ordinal }] : [],
  )
  if (judged.length === 0)
    throw new Error(
      `no call is for this guard: it judges ${guard.tools.join(', ')}, and the round calls ${calls.map(({ name }) => name).join(', ') || 'nothing'}`,
    )
  return {
    conversation,
    turn,
    round: before.length + 1,
    agent,
    time,
    ended: [...ended],
    calls: judged.map(({ ordinal, name, source = 'done', enforced = true, ...call }) => ({
      ordinal,
      name,
      source,
      enforced,
      arguments: structuredClone(call.arguments ?? {}),
      rawArguments: JSON.stringify(call.arguments ?? {}),
      declaration: {
        name,
        description: call.description ?? '',
        schema: JSON.stringify(call.schema ?? { type: 'object' }),
        idempotent: false,
        timeoutMs: 60_000,
        poll: false,
        hints: call.hints ?? null,
      },
    })),
  }
}
