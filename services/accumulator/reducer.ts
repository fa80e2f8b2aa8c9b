// Accumulator: turns the parts of one model response into one finished response. Owns: the parts of
// an open round, until one attempt is named as the answer. Does not own: mapping a provider's
// chunks and choosing the attempt (llm-gateway), judging a call (validator), what an empty or
// thinking-only response means (loop-detector). What is a call, where a format does not mark it, is
// decided in call-pieces.ts; what its arguments are, in call.ts.
//
// ACC-1. Parts change nothing; only model-finished decides, and it names the attempt. Two owners
//     may stream two attempts at once, and they never mix.
// ACC-2. Of an attempt exactly the parts 0 to parts - 1 are folded, each once, in that order. One
//     that is missing makes the answer a failure, never a shorter answer: a call whose last bytes
//     are missing can look complete.
// ACC-3. Arguments come from one source, the best that was sent (source-precedence.ts). Nothing is
//     joined or invented (I1.1, I5.1), and what is mended keeps its value (ACCUMULATOR-CALL-1).
// ACC-4. Bytes of parts are bounded over all attempts of a round (R7). Where a part does not fit,
//     the attempt of which nothing came for longest is given up first, then the one that brought
//     the part: an attempt that failed after most of an answer must not cost its retry the room. An
//     attempt that was given up can never be folded, so its parts go.

import { limits } from '../../shared/contract/limits.ts'
import type {
  ModelFinished,
  ModelOpened,
  Part,
  PartEvent,
  RoundFailure,
  RoundProposed,
  Tick,
} from '../../shared/contract/messages.ts'
import { partWeight } from '../../shared/contract/part-weight.ts'
import { closed, type Output, type Stage, unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { emptyResponse, foldResponse } from './response.ts'
import { withTextCalls } from './text-calls.ts'

export type OpenRound = {
  /** Names of all tools that the request offered. */
  offered: string[]
  expiresAt: Milliseconds
  /** What the kept parts weigh together (ACC-4). */
  bytes: number
  /** The one whose newest part is oldest comes first. */
  attempts: Map<string, Attempt>
}

/** `kept`: parts by their place. `over`: it was given up, so it can only be reported as cut. */
type Attempt = { phase: 'kept'; parts: Map<number, PartEvent[]>; bytes: number } | { phase: 'over' }

export const accumulator: Stage<OpenRound, ModelOpened | Part | ModelFinished | Tick> = {
  name: 'accumulator',
  unit: (message) =>
    message.type === 'tick'
      ? message.unit
      : JSON.stringify([message.conversation, message.turn, message.round]),
  // Later than the gateway's own deadline: its word for a round that expired must find the round
  // open, or nobody would hear how it ended.
  due: (open) => open.expiresAt + limits.turnLingerMs,
  wants: () => [],

  react(open, { message }) {
    switch (message.type) {
      case 'model-opened':
        return {
          state: open ?? {
            offered: message.offered,
            expiresAt: message.expiresAt,
            bytes: 0,
            attempts: new Map(),
          },
        }
      case 'part':
        if (open === undefined) return closed // its round never opened, or is over
        keep(open, message)
        return { state: open }
      case 'model-finished':
        return open === undefined ? closed : { records: [proposed(open, message)] }
      case 'tick':
        return closed // the gateway has not spoken for the round, and will not
      default:
        return unreachable(message)
    }
  },

  failed: () => closed,
}

/**
 * Changes `open` in place: an argument of 100,000 deltas must not be copied 100,000 times. The
 * first part of a place is kept (ACC-1).
 */
function keep(open: OpenRound, part: Part): void {
  const attempt: Attempt = open.attempts.get(part.attempt) ?? {
    phase: 'kept',
    parts: new Map(),
    bytes: 0,
  }
  if (attempt.phase === 'over' || attempt.parts.has(part.i)) return

  const bytes = partWeight(part.events)
  if (attempt.bytes + bytes > limits.roundPartsBytesMax) {
    giveUp(open, part.attempt, attempt)
    return
  }
  attempt.parts.set(part.i, part.events)
  attempt.bytes += bytes
  open.bytes += bytes
  open.attempts.delete(part.attempt) // so that it stands last: its newest part is the newest of all
  open.attempts.set(part.attempt, attempt)

  for (const [name, oldest] of open.attempts) {
    if (open.bytes <= limits.roundPartsBytesMax) return // at the latest when only this attempt is left, which fits by itself
    if (oldest.phase === 'kept') giveUp(open, name, oldest)
  }
}

/** Keeps ACC-4. */
function giveUp(open: OpenRound, name: string, attempt: Extract<Attempt, { phase: 'kept' }>): void {
  open.attempts.set(name, { phase: 'over' })
  open.bytes -= attempt.bytes
}

function proposed(open: OpenRound, finished: ModelFinished): Output {
  const { conversation, turn, round, declarations, agent, policy, callsLeft, expiresAt } = finished
  const record: RoundProposed = {
    type: 'round-proposed',
    ...{ conversation, turn, round },
    ...answer(open, finished),
    ...{ offered: open.offered, declarations, agent, policy, callsLeft, expiresAt },
  }
  return { to: 'next', message: record }
}

function answer(
  open: OpenRound,
  finished: ModelFinished,
): Pick<RoundProposed, 'response' | 'failure'> {
  if (finished.failure !== null)
    return { response: emptyResponse(finished), failure: finished.failure }
  const parts = partsOf(open, finished)
  if (!Array.isArray(parts))
    return { response: { ...emptyResponse(finished), stop: 'cut' }, failure: parts }
  return withTextCalls(foldResponse(parts, finished, open.offered), finished, open.offered)
}

/** The parts 0 to parts - 1 in order, or why there is no answer (ACC-2). */
function partsOf(
  open: OpenRound,
  { attempt, parts: count }: ModelFinished,
): PartEvent[][] | RoundFailure {
  const kept = open.attempts.get(attempt)
  if (kept?.phase === 'over') {
    const reason = `the response was cut: the parts of its round take more than the ${limits.roundPartsBytesMax} bytes that a round may hold`
    return { class: 'provider', reason }
  }
  const parts: PartEvent[][] = []
  for (let i = 0; i < count; i += 1) {
    const events = kept?.parts.get(i)
    if (events === undefined)
      return {
        class: 'transient',
        reason: `the response was cut: part ${i + 1} of ${count} is missing`,
      }
    parts.push(events)
  }
  return parts
}
