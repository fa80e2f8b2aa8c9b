// Accumulator: folds the parts of one model response into one finished response.
// Reads: model-deltas. Writes: round-proposed to rounds-proposed.
// Owns: the parts of an open round, until model-finished names one attempt as the answer.
// Does not own: mapping a provider's chunks and choosing the attempt (llm-gateway), judging a call
// (validator), the meaning of an empty or thinking-only response (loop-detector). Two files decide
// the rest: call-pieces.ts finds calls in formats that do not mark them, and call.ts their
// arguments.
//
// ACC-1. Only model-finished decides, and it names the attempt. Two owners may stream two attempts
//     at once. Two attempts never mix.
// The parts 0 to parts - 1, of which model-finished may carry the last, are folded in order, each
// once. If one is missing, the answer is a failure: a call without its last bytes can look complete.
// Arguments come from one source, the best that was sent (call.ts). Sources are
// never joined (I1.1, I5.1), and a repair keeps the value.
// The bytes of a round's attempts are bounded together (R7). Over the bound, attempts are
// dropped, the longest silent one first. One that is over the bound alone is dropped too.

import { partWeight } from '../../shared/contract/call/part-weight.ts'
import { roundKey } from '../../shared/contract/ids.ts'
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
import { closed, type Output, type Stage, unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { emptyResponse, foldResponse } from './response.ts'
import { withTextCalls } from './text-calls.ts'

export type OpenRound = {
  /** Names of all tools that the request offered. */
  offered: string[]
  expiresAt: Milliseconds
  /** The weight of all kept parts together. */
  bytes: number
  /** Ordered by newest part: the attempt that is silent for longest comes first. */
  attempts: Map<string, Attempt>
}

/** `kept`: parts by number. `over`: dropped, so it can only be reported as cut. */
type Attempt = { phase: 'kept'; parts: Map<number, PartEvent[]>; bytes: number } | { phase: 'over' }

export const accumulator: Stage<OpenRound, ModelOpened | Part | ModelFinished | Tick> = {
  name: 'accumulator',
  unit: (message) => (message.type === 'tick' ? message.unit : roundKey(message)),
  // Later than the gateway's own deadline. The round must still be open when the gateway reports
  // that it expired.
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
        return closed // the gateway did not report in time, and will not
      default:
        return unreachable(message)
    }
  },

  failed: () => closed,
}

/**
 * Changes `open` in place: a copy for each of 100,000 deltas would be too slow. If a part comes
 * twice, the first one counts (ACC-1).
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
    dropAttempt(open, part.attempt, attempt)
    return
  }
  attempt.parts.set(part.i, part.events)
  attempt.bytes += bytes
  open.bytes += bytes
  // Moves it to the end: its newest part is the newest of all.
  open.attempts.delete(part.attempt)
  open.attempts.set(part.attempt, attempt)

  for (const [name, oldest] of open.attempts) {
    // Ends at the latest when only this attempt is left, because it fits by itself.
    if (open.bytes <= limits.roundPartsBytesMax) return
    if (oldest.phase === 'kept') dropAttempt(open, name, oldest)
  }
}

/**
 * A failed attempt must leave room for its retry. An attempt that lost parts can never
 * be folded, so all its parts are dropped.
 */
function dropAttempt(
  open: OpenRound,
  name: string,
  attempt: Extract<Attempt, { phase: 'kept' }>,
): void {
  open.attempts.set(name, { phase: 'over' })
  open.bytes -= attempt.bytes
}

function proposed(open: OpenRound, finished: ModelFinished): Output {
  const { conversation, turn, round, declarations, agent, policy, callsLeft, expiresAt } = finished
  const record: RoundProposed = {
    type: 'round-proposed',
    conversation,
    turn,
    round,
    ...answer(open, finished),
    offered: open.offered,
    declarations,
    agent,
    policy,
    callsLeft,
    expiresAt,
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

/** The parts 0 to parts - 1 in order, or the reason why there is no answer. */
function partsOf(
  open: OpenRound,
  { attempt, parts: count, rest }: ModelFinished,
): PartEvent[][] | RoundFailure {
  const kept = open.attempts.get(attempt)
  if (kept?.phase === 'over') {
    const reason = `the response was cut: the parts of its round take more than the ${limits.roundPartsBytesMax} bytes that a round may hold`
    return { class: 'provider', reason }
  }
  const parts: PartEvent[][] = []
  for (let i = 0; i < count; i += 1) {
    const events = rest[i - (count - rest.length)] ?? kept?.parts.get(i)
    if (events === undefined)
      return {
        class: 'transient',
        reason: `the response was cut: part ${i + 1} of ${count} is missing`,
      }
    parts.push(events)
  }
  return parts
}
