// The contract of a guard: a pure function from its memory of a conversation and a cleared round to
// verdicts on the round's calls. The default export of a guard file is a guard, or a function from
// options to one. shared/runtime/guards/ runs it, `weir guard run` starts it. An external guard may
// call another service instead, and keeps no memory.
// A guard sees only undecided calls, of tools that it is registered for. It
// cannot change a call.
// Its answer names exactly these calls. Any other answer is unusable, and an
// enforcing guard's calls are denied (R6): a mixed-up answer may pass the wrong call.

import type { Milliseconds } from '../../lib/clock.ts'
import type { CallId, RoundId } from '../ids.ts'
import type { ArgumentSource, Declaration, GuardMode, ResultStatus } from '../messages.ts'

export const guardModes = ['shadow', 'enforce'] as const satisfies readonly GuardMode[]

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export type JsonObject = { [name: string]: JsonValue }

/**
 * `time`: append time of the round-cleared record. `calls`: by ordinal, at least one. `ended`: calls
 * that the guard let run and whose ends it has not seen, also of the conversations that calls began.
 * Empty without `seesEnds`. `skipped` and `denied` promise that the call never ran.
 */
export type GuardedRound = RoundId & {
  agent: string
  time: Milliseconds
  calls: GuardedCall[]
  ended: EndedCall[]
}

/** `text`: the beginning of its result, at most `limits.guardEndTextBytesMax` bytes. */
export type EndedCall = CallId & { status: ResultStatus; text: string }

export type GuardedCall = {
  /** Its place in the response of the model, from 0. A verdict names it. */
  ordinal: number
  /** The name of the tool. */
  name: string
  arguments: JsonObject
  /** The text of the arguments, as the tool gets it. */
  rawArguments: string
  /** The source of the arguments. `text`: the model wrote the call as text, not natively. */
  source: ArgumentSource
  /** Whether the guard enforces for it in this round. Otherwise it runs even if denied. */
  enforced: boolean
  /** The tool as the model sees it, with its schema as JSON text. */
  declaration: Declaration
}

/**
 * `ask`: the call needs a person's approval. It is denied if no approval rule lets a person decide
 * calls of this tool. `code`: for people, [a-z0-9_.-]{1,64}. `text`: the problem, 1 to
 * `limits.guardTextBytesMax` bytes: for the model, with the accepted values; for `ask`, also for the
 * person. `evidence`: for people, the basis of the verdict.
 */
export type Verdict =
  | { ordinal: number; verdict: 'allow' }
  | { ordinal: number; verdict: 'deny' | 'ask'; code: string; text: string; evidence?: string }

/**
 * `state`: the memory of the conversation, as plain JSON of at most `limits.guardStateBytesMax`
 * bytes. Undefined: none. `intervention`: a text for the model's next request, independent of
 * the verdicts.
 */
export type Judgement<State> = {
  state: State | undefined
  verdicts: Verdict[]
  intervention?: { reason: string; text: string }
}

export type Guard<State = unknown> = {
  /** [a-z0-9][a-z0-9-]{0,62} */
  name: string
  /** For people: 1 to 64 printable characters. */
  version: string
  /** Patterns of the names of tools that it judges. `*` matches any characters. */
  tools: string[]
  /** The time that a round waits for it when it enforces. */
  deadlineMs: Milliseconds
  /** The verdict on its calls if it does not answer in time. */
  onTimeout: 'deny' | 'allow'
  /**
   * The time after which an idle conversation is forgotten. Default: `limits.guardStateKeptMs`. A
   * restart judges the rounds of that time again, so a shorter one starts sooner.
   */
  stateKeptMs?: Milliseconds
  /** Whether its rounds name the calls that ended. They come only with a state. Default: no. */
  seesEnds?: boolean
  external?: false
  /**
   * Pure: no clock (use `round.time`), no randomness, no input or output. If it throws, gives an
   * unusable answer, or takes longer than `limits.guardJudgeMsMax`, the calls of an enforcing guard
   * are denied.
   */
  judge(state: State | undefined, round: GuardedRound): Judgement<State>
}

/**
 * A guard that gets its verdicts from elsewhere, such as a policy server or a moderation model. Its
 * verdict on a round is recorded, and a replay reads the record. It keeps no state.
 */
export type ExternalGuard = Omit<Guard, 'external' | 'stateKeptMs' | 'seesEnds' | 'judge'> & {
  external: true
  /**
   * `signal` aborts at the guard's deadline, and when the guard stops. A round that has no answer
   * then has the verdict of `onTimeout`. If the promise rejects before, the calls of an enforcing
   * guard are denied. A process that ends before the answer is in the log calls it again, so it must have no effect.
   */
  judge(
    state: undefined,
    round: GuardedRound,
    call: { signal: AbortSignal },
  ): Judgement<undefined> | Promise<Judgement<undefined>>
}

export type AnyGuard = Guard | ExternalGuard
