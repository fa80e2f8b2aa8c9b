// The interface between gateway and provider: one request in, a stream of normalized events and one
// ending out. An implementation only maps its wire format. It has no retries, no deadlines and no
// assembly of arguments.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { AcceptedOptions } from '../../../../shared/agents/file/source.ts'
import type {
  Declaration,
  FailureClass,
  HistoryEntry,
  PartEvent,
  ReasoningRefusal,
  Stop,
  Usage,
} from '../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import type { ErrorCode } from '../../../../shared/lib/errors.ts'
import type { Contents } from '../contents.ts'

/** One model round in the gateway's terms. The implementation builds its messages from it. */
export type ProviderRequest = {
  /** Instructions that replace the agent's; undefined: the agent's. */
  system?: string
  /** A text at the top of this request only (I1); null: none. */
  nudge: string | null
  /** The tools on offer. */
  tools: Declaration[]
  /**
   * The model must not call a tool in this round. The tools stay declared, because the history
   * refers to them.
   */
  textOnly: boolean
  /** In order of turn and round. User messages are round 0. */
  history: HistoryEntry[]
  /** The images and files that the history names. Undefined: none. */
  contents?: Contents
  /**
   * The provider refused this history (I5.4): send it again and replace everything that may be
   * foreign to the provider.
   */
  rebuilt: boolean
  /**
   * The provider refused the reasoning of this history: send it in the form that answers this. None
   * or undefined: as it arrived.
   */
  reasoningRefused?: ReasoningRefusal
}

/**
 * The response is over. `finish`: the provider's finish reason; empty: none. `stop` is `cut` if the
 * stream just ended, and the gateway then discards the response.
 */
export type Finished = { kind: 'finished'; stop: Stop; finish: string; usage: Usage }

/**
 * There is no answer. `retryAfterMs`: the provider's hint; null: none. `reason` holds no key and no
 * URL of the agent file. `finish`: the provider's finish reason, if any.
 */
export type Failed = {
  kind: 'failed'
  code: ErrorCode
  class: FailureClass
  reason: string
  retryable: boolean
  retryAfterMs: Milliseconds | null
  finish?: string
  /** The provider reports that calls and results of the history do not pair up (I5.4). */
  historyRefused?: true
  /** The history is shortened now, so the request can be sent again. */
  historyShortened?: true
  /** The provider objects to the reasoning in the history. */
  reasoningRefused?: Exclude<ReasoningRefusal, 'none'>
  /**
   * The content of the request may be the cause: its tools, or its calls if no tool may be called.
   * `tools`: the provider mentions them.
   */
  formRefused?: 'tools' | 'unsaid'
}

/** Some events of the stream, or its end. */
export type Streamed = { kind: 'events'; events: PartEvent[] } | Finished | Failed

/** Connects an agent to its provider. A promise if the SDK must be loaded first. */
export type Connect = (agent: Agent) => Provider | Promise<Provider>

export type Provider = {
  /**
   * Sends one round. Yields events in stream order, then exactly one `finished` or `failed`. Must
   * not throw: every outside error is a `failed`. After `signal` aborts it ends soon, with or
   * without an ending, and nobody reads the rest. Must call `onBytes` for every piece of the
   * response: silence reveals a stall (I5.3). Comments and pings count, because a provider with a
   * queue sends nothing else. The caller decides how long they suffice.
   */
  stream(
    request: ProviderRequest,
    signal: AbortSignal,
    onBytes: () => void,
  ): AsyncIterable<Streamed>
}

/** `baseUrl`: without a final slash; undefined: the provider's own. `path`: the encoded model. */
export type ModelCheck = (model: { baseUrl: string | undefined; apiKey: string; path: string }) => {
  url: string
  headers: Record<string, string>
}

/** How a recorded stream of a provider is recognized. */
export type RecordingFormat = {
  /** Each event of a stream repeats the type of its payload as its name. */
  hasNamedEvents: boolean
  /** Whether a JSON object is the body of a server that does not stream. */
  isWhole(body: Record<string, unknown>): boolean
  /** The types of the events that end a response. */
  lastTypes: ReadonlySet<string>
  /** Matches only the first event of a response. */
  first: RegExp
  /** Matches only its last event. */
  last: RegExp
  /** Matches some event of every response, or its whole body. */
  any: RegExp
}

/** A provider as agent files, `doctor`, `normalize` and `init` know it. Loads no SDK. */
export type ProviderRecord<Name extends string = string> = {
  /** As `model.provider` of an agent file. */
  name: Name
  /** The variable that holds the key if an agent file names none. */
  keyVariable: string
  /** The values of a model's options that its API has. */
  accepts: AcceptedOptions
  /** Loads the SDK. `fetch` sends the requests; default: over the network. */
  connect(agent: Agent, fetch?: typeof globalThis.fetch): Promise<Provider>
  /** A request that costs nothing and fails if the provider does not know the model. */
  modelCheck: ModelCheck
  recording: RecordingFormat
}
