// An API of a provider in the terms of the veto. One record for each API (veto-forms.ts).
// Owns: the shapes. Does not own: when a call may pass (veto.ts).

import type { Json } from '../../../../../../shared/wire/format.ts'

/** An event's data: its text, and its value. */
export type EventData = { text: string; data: Json }

/** One answer of the model, complete. */
export type WholeAnswer =
  | { kind: 'whole'; text: string; body: Json }
  | { kind: 'streamed'; events: readonly EventData[] }

/** The result of a call of a refused answer, for the model. */
export type NotRun = { callId: string; name: string; text: string }

export type VetoForm = {
  /** Whether each event has a line with its name. */
  isNamed: boolean
  /** An event that only keeps the connection alive. */
  ping: string
  /** A request that lets the model give more than one answer. */
  asksForSeveral(body: Json): boolean
  usage(answer: WholeAnswer): Json | undefined
  /** The parts of an answer that a client may run: all that are not known to be something else. */
  calls(answer: WholeAnswer): number
  /**
   * The parts of the history, as JSON texts, with a refused answer and the results of its calls.
   * The answer is as the model sent it, with its signatures.
   */
  repeated(answer: WholeAnswer, results: readonly NotRun[], request: Json): string[]
  /** The stream of one client's answer. */
  clientStream(model: string): ClientStream
}

/** One valid response for the client, out of the events of several attempts. */
export type ClientStream = {
  /** Whether an event may go out before its answer is judged. Called for each event until one may not. */
  passes(data: Json): boolean
  /** The visible text that the client has. */
  shownText(): string
  /** The events, as texts of their data, that the client gets for this one. `data` undefined: no JSON. */
  shown(text: string, data: Json | undefined): string[]
  /** The attempt is refused, and the next one begins. Returns the ends of open blocks. */
  refused(usage: Json | undefined): string[]
  /** The last events, with a text of Weir. */
  ended(text: string): string[]
  /** An error in the form of the API. */
  failed(code: string, message: string): string
}
