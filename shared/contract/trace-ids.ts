// The ids of OpenTelemetry for turns, their attempts and their calls. Each is a hash of the place in the
// log, so every process, restart and replay finds the same one.
// The turn of an agent that a call runs belongs to the trace of that call.

import { hash } from 'node:crypto'
import { type CallId, callKey, callOfConversation, type TurnId, turnKey } from './ids.ts'

/** 16 bytes, as 32 hexadecimal digits. */
export function traceIdOf({ conversation, turn }: TurnId): string {
  const caller = callOfConversation(conversation)
  return caller === undefined
    ? digits(32, 'trace', turnKey({ conversation, turn }))
    : traceIdOf(caller)
}

/** 8 bytes, as 16 hexadecimal digits. The span of the turn itself. */
export function turnSpanId(turn: TurnId): string {
  return digits(16, 'turn', turnKey(turn))
}

/** The span of a call that runs, all its tries together. */
export function callSpanId(call: CallId): string {
  return digits(16, 'call', callKey(call))
}

/** The span of something else in a turn. `place`: its name there, such as `attempt 3 1`. */
export function placeSpanId(turn: TurnId, place: string): string {
  return digits(16, place, turnKey(turn))
}

/**
 * `traceparent` (W3C Trace Context, version 00) for the tool of a call: its spans become children
 * of the call's. It counts as sampled.
 */
export function traceparentOf(call: CallId): string {
  return `00-${traceIdOf(call)}-${callSpanId(call)}-01`
}

/** The same for the turn itself: the header of its records on Kafka. */
export function traceparentOfTurn(turn: TurnId): string {
  return `00-${traceIdOf(turn)}-${turnSpanId(turn)}-01`
}

/** Of a SHA-256. Never only zeros, which the standard forbids, but for a chance of 2^-64. */
function digits(count: number, ...parts: string[]): string {
  return hash('sha256', parts.join('\n')).slice(0, count)
}
