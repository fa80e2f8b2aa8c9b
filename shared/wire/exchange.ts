// The neutral values of an exchange with a model: every format reads and writes these. Owns: the
// shapes. Does not own: a vendor's JSON (the folders of the formats).

import type {
  Declaration,
  FailureClass,
  HistoryEntry,
  PartEvent,
  ReasoningRefusal,
  Stop,
  Usage,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { ErrorCode } from '../lib/errors.ts'

/** The bytes of the contents of a history, by hash. */
export type Contents = ReadonlyMap<string, Uint8Array>

/** A request to a model in Weir's terms. A format writes the body of a vendor from it. */
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
