// The strict reading of an answer, and the printing of the answer that was judged. A veto uses both, so
// a client gets no byte of the vendor.
// A strict reader accepts an answer only if it has one meaning. It throws a StrictFault for
// any other, also if the lenient reader accepts it.
// The writer prints the values of the strict reader and nothing else. A call is printed whole
// from its value, and not from its pieces.
// Before the first call of an answer, its events go out at once. From then on all is held.
// A strict reader shares no state machine with the lenient one (answer-reader.ts), so a
// deviation that the lenient one learns to accept is still refused here. Words and counts it shares.

import type { Stop, Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import { jsonText } from '../../lib/json/json-object.ts'
import type { Json } from '../../transcript/json-fields.ts'
import { stopOfWord } from '../answer-stop.ts'
import type { ModelAnswer } from '../exchange.ts'

/** `vendor`: the members of the answer next to its items. `shown`: the items before the first call. */
export type StrictAnswer = ModelAnswer & {
  vendor: Json
  rawUsage: Json | undefined
  shown: number
}

/**
 * The answer with these values. `id` and `model`: as the vendor sent them. `usageOf`: reads its
 * counts. `stop`: default that of `finish`.
 */
export function strictAnswer({
  id,
  model,
  items,
  finish,
  stop = stopOfWord(finish),
  vendor,
  rawUsage,
  usageOf,
}: StrictParts): StrictAnswer {
  return {
    id: scalarText(id),
    model: scalarText(model),
    items,
    stop,
    finish,
    usage: rawUsage === undefined ? noUsage : { ...noUsage, ...usageOf(rawUsage) },
    vendor,
    rawUsage,
    shown: shownOf(items),
  }
}

type StrictParts = Pick<StrictAnswer, 'items' | 'finish' | 'vendor' | 'rawUsage'> & {
  id: unknown
  model: unknown
  stop?: Stop
  usageOf(counted: Json): Partial<Usage>
}

export type StrictFormat = {
  /** An event that only keeps the connection alive, printed. */
  ping: string | Uint8Array
  /** Throws a StrictFault. */
  whole(body: Json): StrictAnswer
  stream(): StrictReader
  /** The whole body of an answer. `usage`: that of all attempts. */
  body(answer: StrictAnswer, usage: Json | undefined): Json
  client(): ClientStream
  /** The body of an HTTP error. */
  error(error: VendorError): Json
  /**
   * The parts of a history with a denied answer and the results of its calls. The answer keeps its
   * signatures.
   */
  repeated(answer: StrictAnswer, results: readonly NotRun[], request: Json): Json[]
}

/** An error of the vendor. `type` and `code`: null if it has none. */
export type VendorError = {
  status: number
  type: string | null
  code: string | number | null
  message: string
}

/** The data of an event: an object, or the mark at the end of a stream. */
export type EventData = Json | '[DONE]'

/** Reads one streamed answer. Both functions throw a StrictFault. */
export type StrictReader = {
  /** The events that the client may have at once, in the numbers of this answer. */
  read(data: EventData): Json[]
  end(): StrictAnswer
}

/** The result of a call of a denied answer, for the model. */
export type NotRun = { callId: string; name: string; text: string }

/** One valid stream for the client, out of several attempts. Returns the data of events. */
export type ClientStream = {
  /** Events that a reader shows at once. */
  shown(events: readonly Json[]): Json[]
  /** The rest of an allowed answer. */
  rest(answer: StrictAnswer): EventData[]
  /** The attempt is denied, and the next one begins. */
  denied(answer: StrictAnswer): void
  /** An error in the form of the API. */
  failed(code: string, message: string): Json
  /** The visible text that the client has. */
  text(): string
}

/** An answer that two clients could read differently, or that Weir does not know. */
export class StrictFault extends Error {
  override name = 'StrictFault'
}

/** `reason`: a constant text of Weir. */
export function fault(reason: string): StrictFault {
  return new StrictFault(reason)
}

/** A missing value is empty. A list or an object gets its JSON, because its text differs by language. */
export function scalarText(value: unknown): string {
  return jsonText(value ?? '')
}

/** The number of items before the first call. */
function shownOf(items: ModelAnswer['items']): number {
  const call = items.findIndex(({ kind }) => kind === 'call')
  return call < 0 ? items.length : call
}
