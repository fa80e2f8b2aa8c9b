// Conversation: opens a turn for each user message, requests model rounds until one is the answer,
// and reports how each turn ended.
// Reads: conversation-events.
// Writes: carried to conversation-events, model-request and cancel to model-requests, turn-ended
// and cancel to rounds-checked and rounds-cleared, history-entry to history, turn-started,
// round-started and turn-finished to activity.
// Owns: the queue (turn.ts), the caps, the fallback, the history's entries, the order of turns.
// Does not own: attempts of a round and the model's view of the history (llm-gateway), progress and
// the texts of interventions (loop-detector), whether a call ran (executor).
//
// CONV-1. One turn is open at a time. Each accepted message opens one turn, in the order of the
//     log, or a cancel removes it from the queue. A known message id changes nothing.
// CONV-2. A unit ends or begins anew only by a `carried` that counts. It counts if the unit is not
//     open, or has no other record after the one that led to it. See `carry`.
// No turn is without caps (I3): each request has its deadline and the calls left. A text of
// an intervention or a cap is in the very next request, or the turn ends.
// A turn that ends early is answered at once. The next one waits for the outstanding round,
// at most until it is certainly over. Only the outcome of that round counts.
// CONV-5. Each requested round has one entry in the history, written before anything that follows
//     from it.

import type { MessageId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  CancelRequested,
  Carried,
  CarriedState,
  QueuedMessage,
  RoundOutcome,
  Tick,
  TurnExtended,
  TurnFailed,
  UserMessage,
} from '../../shared/contract/messages.ts'
import {
  closed,
  type Output,
  type Reaction,
  type Stage,
  unreachable,
} from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { missingRound } from '../../shared/model-texts/requests.ts'
import { expiresAt, extended, wallStep, withOutcome } from '../turn/allowance.ts'
import {
  cancelAt,
  cancelled,
  capped,
  failed,
  internalFailure,
  loseRound,
  lostEntry,
  roundEntry,
  turnEnded,
} from '../turn/endings.ts'
import {
  counts,
  failureOf,
  isAwaited,
  type Outstanding,
  type Place,
  placeOf,
} from '../turn/unit.ts'
import { decide } from './decision.ts'
import { neverOpened, type TurnEnding, turnFinished, waitUntil } from './ending.ts'
import {
  openTurn,
  outstandingOf,
  queuedOf,
  queueRefusalOf,
  refusalOf,
  requestNext,
  type Turn,
  withId,
} from './turn.ts'

export type Conversation = CarriedState & (Open | Waiting | Carrying | Idle)
type Open = { phase: 'open'; turn: Turn }
/** The user has the reply. The outstanding round still runs. */
type Waiting = { phase: 'waiting'; outstanding: Outstanding; until: Milliseconds }
/** A `carried` is in flight (CONV-2). */
type Carrying = { phase: 'carrying' }
/** Kept to recognise repeats by a client. */
type Idle = { phase: 'idle'; since: Milliseconds }

type In = UserMessage | CancelRequested | RoundOutcome | TurnExtended | TurnFailed | Carried | Tick

export const conversation: Stage<Conversation, In> = {
  name: 'conversation',
  beginsAnew: (message) => message.type === 'carried',
  unit: (message) => message.conversation,
  wants: () => [],

  due(state) {
    switch (state.phase) {
      case 'open':
        return expiresAt(state.turn.allowance)
      case 'waiting':
        return state.until
      case 'carrying':
        return undefined // it waits for the record in flight
      case 'idle':
        return state.since + limits.conversationIdleMs
      default:
        return unreachable(state)
    }
  },

  react(state, record) {
    const { message } = record
    const place = placeOf(record)
    switch (message.type) {
      case 'user-message': {
        if (state !== undefined && isKnown(state, message.messageId)) return { state }
        const refusal = refusalOf(message)
        if (refusal !== undefined)
          return { state, records: [refused(place, message, 'deterministic', refusal)] }

        const queued = queuedOf(message)
        const recentMessageIds = withId(state?.recentMessageIds ?? [], queued.messageId)
        if (state === undefined || state.phase === 'idle')
          return open(place, queued, { queue: state?.queue ?? [], recentMessageIds })
        const full = queueRefusalOf(state.queue, queued)
        if (full !== undefined)
          return { state, records: [refused(place, message, 'transient', full)] }
        return { state: { ...state, queue: [...state.queue, queued], recentMessageIds } }
      }

      case 'cancel-requested': {
        if (state === undefined) return closed
        if (state.phase === 'open' && state.turn.message.messageId === message.messageId)
          return endEarly(place, state, cancelled)
        const queued = state.queue.find(({ messageId }) => messageId === message.messageId)
        if (queued === undefined) return { state }
        const queue = state.queue.filter((other) => other !== queued)
        return {
          state: { ...state, queue },
          records: [neverOpened(place, queued, cancelled)],
        }
      }

      case 'round-outcome': {
        if (state === undefined) return closed
        if (!isRunning(state) || !isAwaited(roundOf(state), message)) return { state }
        if (state.phase === 'open') return onOutcome(place, state, message)
        const { outstanding } = state
        return carry(place, state, [
          roundEntry(message, outstanding.nudge),
          ...turnEnded({ ...place, turn: outstanding.turn }),
        ])
      }

      case 'turn-extended': {
        if (state === undefined) return closed
        if (!isRunning(state) || !isAwaited(roundOf(state), message)) return { state }
        if (state.phase === 'open') {
          const allowance = extended(state.turn.allowance, message.until)
          return { state: { ...state, turn: { ...state.turn, allowance } } }
        }
        // The record was in flight when the turn ended. Calls that passed the guards before the
        // cancel may run until the later deadline.
        const { outstanding, until } = state
        const laterMs = Math.min(
          Math.max(0, message.until - outstanding.expiresAt),
          limits.turnExtensionMsMax,
        )
        return {
          state: {
            ...state,
            outstanding: { ...outstanding, expiresAt: outstanding.expiresAt + laterMs },
            until: until + laterMs,
          },
        }
      }

      case 'turn-failed': {
        if (state === undefined) return closed
        const failure = failureOf('conversation', message)
        if (failure === undefined || !isTurnOf(state, message.turn)) return { state }
        return endByFailure(place, state, failure)
      }

      case 'carried': {
        if (state !== undefined && !counts(state, message.from, record.previous))
          return state.phase === 'carrying' ? carry(place, state) : { state }
        if (message.state === null) return closed
        const [next, ...queue] = message.state.queue
        const { recentMessageIds } = message.state
        if (next !== undefined)
          return { ...open(place, next, { queue, recentMessageIds }), anew: true }
        return { state: { phase: 'idle', since: place.time, queue, recentMessageIds }, anew: true }
      }

      case 'tick': {
        if (state === undefined) return closed
        switch (state.phase) {
          case 'open':
            return endEarly(place, state, capped(wallStep(state.turn.allowance)))
          case 'waiting':
            return carry(place, state, [
              lostEntry({ ...place, ...state.outstanding }, missingRound.neverArrived),
            ])
          case 'carrying':
            return { state }
          case 'idle':
            return carryEnd(place, state)
          default:
            return unreachable(state)
        }
      }

      default:
        return unreachable(message)
    }
  },

  /**
   * A record that throws would throw again, so later records must not wait for it. A message that
   * cannot be opened is answered and dropped. Any other record ends the open turn.
   */
  failed(state, record, reason) {
    const { message } = record
    const place = placeOf(record)
    const ending = internalFailure('conversation', reason)
    if (message.type === 'user-message') {
      // A repeat of an accepted message: its turn has its own turn-finished (CONV-1).
      if (state !== undefined && isKnown(state, message.messageId)) return { state }
      return { state, records: [neverOpened(place, message, ending)] }
    }
    if (message.type === 'carried' && counts(state, message.from, record.previous)) {
      const [next, ...queue] = message.state?.queue ?? []
      if (message.state === null || next === undefined) return closed
      return carry(place, { queue, recentMessageIds: message.state.recentMessageIds }, [
        neverOpened(place, next, ending),
      ])
    }
    if (state === undefined) return closed
    switch (state.phase) {
      case 'open':
      case 'waiting':
        return endByFailure(place, state, { note: missingRound.brokenInTheTools, ending })
      case 'carrying':
        return message.type === 'carried' ? carry(place, state) : { state }
      case 'idle':
        return message.type === 'tick' ? carryEnd(place, state) : { state }
      default:
        return unreachable(state)
    }
  },
}

/** The stages that may be at work on the outstanding round. */
const runningAt = ['model', 'verdict', 'tools'] as const

function isKnown(state: Conversation, messageId: MessageId): boolean {
  if (state.phase === 'open' && state.turn.message.messageId === messageId) return true
  return (
    state.recentMessageIds.includes(messageId) ||
    state.queue.some((queued) => queued.messageId === messageId)
  )
}

/** Whether a round is outstanding. */
function isRunning(state: Conversation): state is CarriedState & (Open | Waiting) {
  return state.phase === 'open' || state.phase === 'waiting'
}

function roundOf(state: Open | Waiting): Outstanding {
  return state.phase === 'open' ? outstandingOf(state.turn) : state.outstanding
}

/**
 * `turn` null: a stage failed on a record without a turn. That ends the open turn, but never
 * shortens a wait.
 */
function isTurnOf(
  state: Conversation,
  turn: number | null,
): state is CarriedState & (Open | Waiting) {
  if (state.phase === 'open') return turn === null || turn === state.turn.turn
  return state.phase === 'waiting' && turn === state.outstanding.turn
}

function refused(
  place: Place,
  message: UserMessage,
  failureClass: 'deterministic' | 'transient',
  reason: string,
): Output {
  return neverOpened(place, message, failed(failureClass, reason))
}

function open(
  place: Place,
  message: QueuedMessage,
  remembered: CarriedState,
): Reaction<Conversation> {
  const { turn, records } = openTurn(place, message)
  return { state: { phase: 'open', turn, ...remembered }, records }
}

/**
 * Applies the outcome of a round. It enters the history, and the turn ends or requests the next
 * round.
 */
function onOutcome(
  place: Place,
  state: CarriedState & Open,
  outcome: RoundOutcome,
): Reaction<Conversation> {
  const turn = { ...state.turn, allowance: withOutcome(state.turn.allowance, outcome) }
  const history = roundEntry(outcome, turn.requested.nudge)
  const decision = decide(turn, outcome, place.time)
  if (decision.kind === 'end') {
    return carry(place, state, [
      history,
      ...turnEnded({ ...place, turn: turn.turn }),
      turnFinished(place, turn, decision.ending),
    ])
  }
  const outputRetries = turn.outputRetries + (decision.isOutputRetry === true ? 1 : 0)
  const next = requestNext(place, { ...turn, outputRetries }, decision.request)
  return { state: { ...state, turn: next.turn }, records: [history, ...next.records] }
}

/**
 * Ends the turn before its round is over. The user is answered, the round is cancelled, and the
 * unit waits for it.
 */
function endEarly(
  place: Place,
  { turn, queue, recentMessageIds }: CarriedState & Open,
  ending: TurnEnding,
): Reaction<Conversation> {
  const outstanding = outstandingOf(turn)
  return {
    state: {
      phase: 'waiting',
      outstanding,
      until: waitUntil(turn, place.time),
      queue,
      recentMessageIds,
    },
    records: [
      ...cancelAt(runningAt, { ...place, ...outstanding }),
      turnFinished(place, turn, ending),
    ],
  }
}

/** Ends the turn after an internal failure, without waiting: the outstanding round is lost. */
function endByFailure(
  place: Place,
  state: CarriedState & (Open | Waiting),
  { note, ending }: { note: string; ending: TurnEnding },
): Reaction<Conversation> {
  const round = { ...place, ...roundOf(state) }
  const answer = state.phase === 'open' ? [turnFinished(place, state.turn, ending)] : []
  return carry(place, state, [...loseRound(runningAt, round, note), ...answer])
}

/**
 * Writes the state from which the unit begins anew (CONV-2). From a `carried` that counts, nothing
 * depends on earlier records, so a fold may begin in the middle. A `carried` counts in any phase.
 *
 * One is in flight at a time, and until it counts, messages only queue. One that does not count is
 * written again with the current state (R1). refold.unit.test.ts tries all short logs.
 */
function carry(
  { conversation, offset }: Place,
  { queue, recentMessageIds }: CarriedState,
  records: Output[] = [],
): Reaction<Conversation> {
  const state = { queue, recentMessageIds }
  return {
    state: { phase: 'carrying', ...state },
    records: [
      ...records,
      { to: 'self', message: { type: 'carried', conversation, from: offset, state } },
    ],
  }
}

/** Ends the unit, unless another record comes first (CONV-2). */
function carryEnd(
  { conversation, offset }: Place,
  { queue, recentMessageIds }: CarriedState,
): Reaction<Conversation> {
  return {
    state: { phase: 'carrying', queue, recentMessageIds },
    records: [
      { to: 'self', message: { type: 'carried', conversation, from: offset, state: null } },
    ],
  }
}
