// The interface of a vendor's format. One record for each format (formats.ts). A capability that a
// format lacks is absent, and each user names those that it needs.
// Owns: the shapes. Does not own: a vendor's JSON, which only the folder of a format knows.

import type { Agent } from '../agents/agents.ts'
import type { AcceptedOptions } from '../agents/file/source.ts'
import type { PartEvent } from '../contract/messages.ts'
import type { UnjudgedKind } from '../contract/unjudged-kinds.ts'
import type { Json } from '../transcript/json-fields.ts'
import type { Piece, ReadExchange, ToRead } from '../transcript/transcript.ts'
import type { SentEvent } from './event-stream.ts'
import type { Failed, Finished, ModelAnswer, ProviderRequest } from './exchange.ts'
import type { Secret } from './faults/short-reason.ts'
import type { Framing } from './framing/framing.ts'
import type { StrictFormat } from './strict/strict.ts'

export type { Json }

export type WireFormat<Name extends string = string> = {
  name: Name
  /** Absent for the sessions of a program, which no guest sends. */
  transcript?: TranscriptFormat
  /** Present for files that a program writes while its agent works. */
  session?: SessionFormat
  /** Present for an API of a model. */
  request?: RequestFormat
  /** Present for an API of a model. Loads its writer of requests, and its readers of answers. */
  model?: () => Promise<ModelParts>
  /** Present for an API that agents of Weir use. */
  agent?: AgentFormat
}

/** The large parts of an API that agents of Weir use. A guard does without them. */
export type ModelParts = AnswerParts & {
  /** The body of an agent's request. Throws if a tool's schema is not JSON, in an unchecked agent. */
  write(agent: Agent, request: ProviderRequest): object
}

/** The parts of an API that a proxy needs. */
export type AnswerParts = {
  answer: AnswerFormat
  stream: StreamFormat
  /** The strict reading, for a veto. */
  strict?: StrictFormat
}

/**
 * The format of guests in whose terms the requests of an API are judged, and that body. It never throws.
 */
export type Likeness = { format: 'anthropic' | 'openai-chat'; body(body: Json): Json }

/** An API that only the proxy judges. */
export type LikeFormat = {
  name: string
  like: Likeness
  request: RequestFormat
  model(): Promise<AnswerParts>
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

/** A program that records the sessions of its agent. `name`: its value of `--format`. */
export type SessionProgram<Name extends string = string> = WireFormat<Name> & {
  session: SessionFormat
}

/** A recorded session: lines with a message each, or a whole history as one value. */
export type SessionFormat = {
  messages: TranscriptFormat
  /** The message in a line. Undefined: it has none, or the line is of another format. */
  message?(line: Json): unknown
  /** Why a message does not count, in a few words for people. Undefined: it counts. */
  leftOut?(line: Json): string | undefined
  /** The models and the tokens in a line without a message. */
  facts?(line: Json): Piece[]
  /** Reads the lines of one file in order: the conversation of each. */
  conversations?(): (line: Json) => SessionAgent
  /** The member of a line with its time, as ISO 8601. */
  time?: string
  /** The folder in which the session ran, or the SHA-256 of its path, if a line or the session tells it. */
  place?(value: Json): string | undefined
  /**
   * The whole session in the lines of one file, for a program whose later lines change earlier ones.
   * `folder`: the name of the file's folder. Undefined: the lines are another's.
   */
  joined?(lines: readonly Json[], folder: string): Json | undefined
  /** Present for a program that keeps its sessions in a database of SQLite. */
  database?: SessionDatabase
  /** Where the program keeps its sessions. Undefined: Weir does not look for them. */
  stored?: StoredSessions
}

/**
 * `session`: undefined if the line has its id, or nobody knows it. `agent`: undefined for the main agent.
 */
export type SessionAgent = { session?: string; agent?: string }

/** Queries: `ids` of the sessions that changed at a time or later, oldest first; `rows` of one by its id. */
export type SessionDatabase = {
  ids: string
  rows: string
  /** The whole session. */
  session(rows: readonly Json[]): Json
}

/**
 * `home`: a folder of the user's home, or the one that the environment's `variable` names. `inside`: its
 * folder with the sessions. `file`: their files, as paths below it with `/`. `depth`: levels of folders
 * below it; undefined: the most that Weir enters.
 */
export type StoredSessions = {
  home: string
  variable: string
  inside: string
  file: RegExp
  depth?: number
}

/** The body of a request on the network. */
export type RequestFormat = {
  /** Its name for people. */
  title: string
  routes: readonly Route[]
  /**
   * The other paths of the API whose answers have no calls, as method and end in small letters. `*` is
   * one segment. A veto passes no other path.
   */
  withoutCalls: readonly string[]
  /** The member with the history. */
  history: string
  /** The model, if the path names it and not the body. */
  model?(path: string): string
  /** The members that stay from run to run of one program. */
  program: readonly string[]
  /** The texts of the instructions, those in front of the history first. */
  instructions?(body: Json): unknown[]
  /** The limits of the tokens of an answer, as the request has them. */
  outputLimits(body: Json): unknown[]
  /** The member by which a request leaves its history, or its answer, at the provider. */
  elsewhere(body: Json): UnjudgedKind | undefined
  /** Why Weir cannot judge the requests that `elsewhere` names. Default: for a history at the provider. */
  unreadable?: string
  /** The number of answers that the model may give, as the request has it. */
  answers(body: Json): unknown
  /** Whether the model may call a tool of the client. */
  hasTools(body: Json): boolean
  /**
   * The identity of each call in a message of the history: its id, its name, and without an id its
   * arguments. None: it is not of the model, or calls nothing.
   */
  calls(message: Json): CallWords[]
  /** Whether a message of the history is of the model. */
  isOfModel(message: Json): boolean
  /** The text of a message of the user; undefined: it is none, or a tool's result. */
  userText(message: Json): string | undefined
  modelText(message: Json): string
  /** The message that a history means that is a text. Absent: a history is a list. */
  userMessage?(text: string): Json
  edit: RequestEdits
}

/**
 * How a request on the network is recognized. `end`: of its path, in small letters. `inside`: a part of
 * the path that it must have. `query`: a parameter that it must have. `streams`: whether the path or,
 * if `stream` is absent, the body makes the answer a stream. Default: `stream: true` in the body does.
 */
export type Route = {
  end: string
  inside?: string
  query?: readonly [name: string, value: string]
  streams?: boolean | 'by default'
}

export type CallWords = readonly [id: string, name: unknown, text?: unknown]

/** The smallest changes to a request, for guests. */
export type RequestEdits = {
  /** The text after the history, for this request only. */
  addAdvice(body: Json, text: string): BodyEdit[]
  /** Forbids calls, and keeps the tools. */
  withoutCalls(body: Json): BodyEdit[]
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
  /** The body with this usage, which a strict reader has read. */
  counted(body: Json, usage: Json): Json
  /** The messages of a history that the answer with this body adds. */
  messages(body: Json): Json[]
}

/**
 * `secret`: removed from error texts. `model`: the author of reasoning. `outputTokensMax`: of the
 * request; undefined: unknown. `endMark`: `missing` if the server ends no answer that has calls.
 */
export type ReaderOptions = {
  secret: Secret
  model?: string
  outputTokensMax?: number
  endMark?: 'missing' | undefined
}

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

/** An API for agents of Weir. */
export type AgentFormat = {
  /** The variable that holds the key if an agent file names none. */
  keyVariable: string
  /** The values of a model's options that the API has. */
  accepts: AcceptedOptions
  /** The address of a streamed request, and the headers with the key; or the SDK that makes both. */
  target: ((model: ModelAddress) => HttpTarget) | SdkTarget
  /** A request that costs nothing and fails if the provider does not know the model. */
  check(model: ModelAddress): HttpTarget
  recording: RecordingFormat
}

/** `path`: of the requests, below the address of the SDK. */
export type SdkTarget = { sdk: 'anthropic' | 'openai'; path: string }

/** `baseUrl`: without a final slash; undefined: the provider's own. `path`: the encoded model. */
export type ModelAddress = { baseUrl: string | undefined; apiKey: string; path: string }

export type HttpTarget = { url: string; headers: Record<string, string> }

/** How a recorded stream of an API is recognized. */
export type RecordingFormat = {
  /** Each event of a stream repeats the type of its payload as its name. */
  hasNamedEvents: boolean
  /** Whether a JSON object is the body of a server that does not stream. */
  isWhole(body: Json): boolean
  /** The types of the events that end a response. */
  lastTypes: ReadonlySet<string>
  /** Matches only the first event of a response. */
  first: RegExp
  /** Matches only its last event. */
  last: RegExp
  /** Matches some event of every response, or its whole body. */
  any: RegExp
}

/** The events of a streamed answer. */
export type StreamFormat = {
  framing: Framing
  /** The data of the events, as objects, or as texts that are no JSON. */
  events(answer: ModelAnswer): (Json | string)[]
  /** The same finished stream with fewer events, for a quick read. */
  joined?(stream: string): string
}
