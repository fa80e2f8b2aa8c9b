// The interface of a vendor's format. One record for each format (formats.ts). A capability that a
// format lacks is absent, and each user names those that it needs.
// Owns: the shapes. Does not own: a vendor's JSON, which only the folder of a format knows.

import type { PartEvent } from '../contract/messages.ts'
import type { UnjudgedKind } from '../contract/unjudged-kinds.ts'
import type { Piece, ReadExchange, ToRead } from '../transcript/transcript.ts'
import type { SentEvent } from './event-stream.ts'
import type { Failed, Finished, ModelAnswer } from './exchange.ts'
import type { Secret } from './faults/short-reason.ts'

export type Json = Record<string, unknown>

export type WireFormat<Name extends string = string> = {
  name: Name
  /** Absent for the sessions of a program, which no guest sends. */
  transcript?: TranscriptFormat
  /** Present for files that a program writes while its agent works. */
  session?: SessionFormat
  /** Present for an API of a model. */
  request?: RequestFormat
  answer?: AnswerFormat
  stream?: StreamFormat
}

/** Histories, requests and finished answers as pieces. The readers throw `transcript.invalid`. */
export type TranscriptFormat = {
  read(exchange: ToRead, where: string): ReadExchange
  /** The pieces of a finished answer. */
  answer(answer: unknown, where: string): Piece[]
  /** A noun phrase for such an answer, for errors. */
  answerName: string
  /** The members of an object that can have the list of messages. */
  lists: readonly string[]
  /** Present if `weir import-transcript` reads the format. */
  file?: TranscriptFile
}

export type TranscriptFile = {
  /** Its value of `--format`. Formats with the same value have the same readers. */
  name: string
  /** Reads a single message or item. */
  item(value: unknown, where: string): Piece[]
  /** A request can end with the beginning of its answer. */
  prefills: boolean
}

/** The lines of a recorded session: messages of a format in envelopes, between other lines. */
export type SessionFormat = {
  /** The format of the messages. */
  messages: TranscriptFormat
  /** The message in a line. Undefined: it has none, or the line is of another format. */
  message(line: Json): unknown
  /** Why a message does not count, in a few words for people. Undefined: it counts. */
  leftOut?(line: Json): string | undefined
  /** Reads the lines of one file in order: the sub-agent that wrote each; empty: the main agent. */
  agents?(): (line: Json) => string
}

/** The body of a request on the network. */
export type RequestFormat = {
  /** The end of its paths, in small letters. */
  path: string
  /** The member with the history. */
  history: 'messages' | 'input'
  /** The member by which a request leaves its history, or its answer, at the provider. */
  elsewhere(body: Json): UnjudgedKind | undefined
  /** A request that lets the model give more than one answer. */
  asksForSeveral(body: Json): boolean
  /** Whether the model may call a tool of the client. */
  hasTools(body: Json): boolean
  /** Whether a message of the history is of the model and calls a tool. */
  isCall(message: Json): boolean
  /** Whether a message of the history is of the model. */
  isOfModel(message: Json): boolean
  /** The text of a message of the user; undefined: it is none, or a tool's result. */
  userText(message: Json): string | undefined
  edit: RequestEdits
}

/** The smallest changes to a request, for guests. */
export type RequestEdits = {
  /** The text behind the history, for this request only. */
  addAdvice(body: Json, text: string): BodyEdit[]
  /** The value of `tool_choice` that forbids calls. */
  noTools: unknown
}

/** `set`: the field at the path. `append`: to the list at the path. */
export type BodyEdit = {
  kind: 'set' | 'append'
  path: readonly (string | number)[]
  value: unknown
}

/** An answer of a model. */
export type AnswerFormat = {
  /** Reads one answer, streamed or whole, and accepts the known deviations of servers. */
  reader(options: ReaderOptions): AnswerReader
  /** The whole body of an answer. */
  write(answer: ModelAnswer): Json
}

/**
 * `secret`: removed from error texts. `model`: the author of reasoning. `outputTokensMax`: of the
 * request; undefined: unknown.
 */
export type ReaderOptions = { secret: Secret; model?: string; outputTokensMax?: number }

/** Reads one answer of a model as events. Keeps the state of the answer. */
export type AnswerReader = {
  /** The sent events of a response, also of a server that does not stream. */
  sent(response: Response, onBytes: () => void): AsyncIterable<SentEvent[]>
  read(event: string | null, data: string): PartEvent[]
  /** The provider ended the answer, or the answer has failed. */
  isDone(): boolean
  /** The last events, after the end of the stream or an `interruption` (undefined: none). */
  end(interruption: unknown): PartEvent[]
  ending(interruption: unknown): Finished | Failed
}

/** The events of a streamed answer. */
export type StreamFormat = {
  /** Whether each event has a line with its type. */
  isNamed: boolean
  /** The data of the events, as objects, or as texts that are no JSON. */
  events(answer: ModelAnswer): (Json | string)[]
}
