// The contract of a guard: a pure function from what it remembers of a conversation and a cleared
// round to verdicts on the round's calls. A guard file exports one by default, or a function from
// options to one; shared/runtime/guards/ runs it, `weir guard run` starts it.
// CONTRACT-GUARD-1. It sees calls that nobody has decided yet, of tools that it is registered for,
//     and nothing else of the round. It cannot change a call.
// CONTRACT-GUARD-2. Its answer names each of these calls, and no other. One that is missing, or
//     another, makes the whole answer unusable, and an enforcing guard's calls are vetoed (R6): a
//     guard that mixes up calls may have let the wrong one pass.

import type { Milliseconds } from '../lib/clock.ts'
import type { Declaration } from './messages.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export type JsonObject = { [name: string]: JsonValue }

/** `time`: append time of the round-cleared record. `calls`: by ordinal, at least one. */
export type GuardedRound = {
  conversation: string
  turn: number
  round: number
  agent: string
  time: Milliseconds
  calls: GuardedCall[]
}

export type GuardedCall = {
  ordinal: number
  tool: string
  arguments: JsonObject
  declaration: Declaration
}

/**
 * `code`: for people, [a-z0-9_.-]{1,64}. `text`: for the model, 1 to `limits.guardTextBytesMax`
 * bytes: what was wrong, and what would pass. `evidence`: for people, what it was judged by.
 */
export type Verdict =
  | { ordinal: number; verdict: 'pass' }
  | { ordinal: number; verdict: 'reject'; code: string; text: string; evidence?: string }

/**
 * `state`: what to remember of the conversation, as plain JSON of at most
 * `limits.guardStateBytesMax` bytes; undefined: nothing. `intervention`: what the model should be
 * told in its next request, whatever the verdicts.
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
  /** Patterns of the names of tools that it judges; `*` stands for any characters. */
  tools: string[]
  /** How long a round waits for it when it enforces. */
  deadlineMs: Milliseconds
  /** What becomes of its calls when it does not answer in time. */
  onTimeout: 'reject' | 'allow'
  /**
   * For how long a conversation is remembered in which nothing happens; default
   * `limits.guardStateKeptMs`. After a restart the rounds of that time are judged again to find
   * what was known, so a shorter one starts sooner.
   */
  stateKeptMs?: Milliseconds
  /**
   * Pure: no clock (`round.time` is the time), no randomness, no input or output. What it throws,
   * and an answer that is not as it must be, vetoes the calls of an enforcing guard; so does one
   * that takes longer than `limits.guardJudgeMsMax`.
   */
  judge(state: State | undefined, round: GuardedRound): Judgement<State>
}
