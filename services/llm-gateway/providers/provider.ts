// What the gateway knows of a model's provider: one request goes in, a stream of normalized events
// and one ending come out. A provider's file maps its wire to this and decides nothing else: no
// retries, no deadlines, no folding of arguments.

import type { Agent } from '../../../shared/agents/agents.ts'
import type {
  Declaration,
  FailureClass,
  HistoryEntry,
  PartEvent,
  Stop,
  Usage,
} from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { ErrorCode } from '../../../shared/lib/errors.ts'

/**
 * One round as the model is asked for it, in our words; a provider's file makes its own messages of
 * it.
 */
export type ProviderRequest = {
  /** The instructions, in place of the agent's own; undefined: those. */
  system?: string
  /** A text that stands at the top of this one request (I1); null: none. */
  nudge: string | null
  /** The tools offered. */
  tools: Declaration[]
  /**
   * The model must not call a tool in this round; the tools stay declared, because the history
   * speaks of them.
   */
  textOnly: boolean
  /** In order of turn and round; the user's messages are round 0. */
  history: HistoryEntry[]
  /**
   * The provider has refused this history (I5.4): it is to be said once more with all that may be
   * foreign in it replaced.
   */
  rebuilt: boolean
}

/**
 * The response is over. `finish`: the provider's own word for why the model stopped, empty when
 * none came. `stop` is `cut` where the stream just ended: then the gateway takes nothing of it.
 */
export type Finished = { kind: 'finished'; stop: Stop; finish: string; usage: Usage }

/**
 * There is no answer. `retryAfterMs`: what the provider asked for; null: nothing. `reason` holds no
 * key and no URL of the agent's file. `finish`: the provider's own word for the end, if it gave
 * one.
 */
export type Failed = {
  kind: 'failed'
  code: ErrorCode
  class: FailureClass
  reason: string
  retryable: boolean
  retryAfterMs: Milliseconds | null
  finish?: string
  /** The provider says that calls and results of the history do not go together (I5.4). */
  historyRefused?: true
  /**
   * It may be what stands in the request that is refused: its tools, or its calls where no tool may
   * be called. `tools`: the provider speaks of them.
   */
  formRefused?: 'tools' | 'unsaid'
}

/** Some events of the stream, or its end. */
export type Streamed = { kind: 'events'; events: PartEvent[] } | Finished | Failed

/** How an agent's model is asked. A promise, where the provider's SDK has to be loaded first. */
export type Connect = (agent: Agent) => Provider | Promise<Provider>

export type Provider = {
  /**
   * Asks for one round. Yields events in the order of the stream, then exactly one `finished` or
   * `failed`. Must not throw: what the world does is a `failed`. After `signal` aborts it ends
   * soon, with or without an ending, and nobody reads what it still yields. `heard` is to be called
   * for every piece of the response that arrives, whatever it holds: silence is how a stall is
   * known (I5.3). A keep-alive comment or a ping is a sign of life too: a provider that queues a
   * request sends nothing else. For how long that is enough is not for a provider's file to say.
   */
  stream(request: ProviderRequest, signal: AbortSignal, heard: () => void): AsyncIterable<Streamed>
}

/** `baseUrl`: without a final slash; undefined: the provider's own. `path`: the encoded model name. */
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

/** A provider as agent files, `doctor`, `normalize` and `init` know it. Importing it loads no SDK. */
export type ProviderRecord = {
  /** As `model.provider` of an agent file. */
  name: string
  /** The variable that holds the key if an agent file names none. */
  keyVariable: string
  /** Loads the SDK. `fetch` sends the requests; default: over the network. */
  connect(agent: Agent, fetch?: typeof globalThis.fetch): Promise<Provider>
  /** A request that costs nothing and fails if the provider does not know the model. */
  modelCheck: ModelCheck
  recording: RecordingFormat
}
