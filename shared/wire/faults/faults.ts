// The form of a vendor's faults. Each vendor has them in its folder, and fault-table.ts joins them.

import type { ReasoningRefusal } from '../../contract/messages.ts'

export type Meaning =
  | 'context-full'
  /** A filter declines the content. finish-reasons.ts recognizes it at the end of a response. */
  | 'declined'
  /** Calls and results of the history do not pair up (I5.4). */
  | 'history'
  /** The reasoning in the history. Every later request with it would be refused too. */
  | Exclude<ReasoningRefusal, 'none'>
  /** An unpaid bill, not a rate. */
  | 'spent'
  /** A limit of the account for a time: of requests or tokens. */
  | 'limited'
  /** The provider has too much work for now. */
  | 'overloaded'
  /** The request, for another reason. */
  | 'refused'
  /** The request was valid and the model's output was not, so the next response may be good. */
  | 'output'

/** The sign of an error: its HTTP status, its type or code, or the wording of its message. */
export type Sign = number | string | RegExp
export type Faults = Readonly<Partial<Record<Meaning, readonly Sign[]>>>

/** The headers of one limit: the amount left, and the time of its reset. */
export type LimitHeaders = { remaining: string; reset: string }

/** The places of reasoning in a history. Not settings such as `reasoning_effort`. */
export const reasoningPlace = String.raw`(?:reasoning_content|reasoning_details|reasoning(?![\w.]*effort)|thinking|thought_signature|extra_content|encrypted_content|(?<=[.'"\x60])phase)`

export function near(one: string, other: string): RegExp {
  return new RegExp(`${one}.{0,80}?${other}|${other}.{0,80}?${one}`, 'is')
}
