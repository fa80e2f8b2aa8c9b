// The neutral values of an exchange with a model: every format reads and writes these. Owns: the
// shapes. Does not own: a vendor's JSON (the folders of the formats).

import type {
  Declaration,
  FailureClass,
  HistoryEntry,
  PartEvent,
  ReasoningRefusal,
  SlotRefusal,
  Stop,
  Usage,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { Piece } from '../transcript/transcript.ts'

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
 * stream just ended, and the gateway then discards the response. `lacksEnd`: the stream ended after
 * calls, and nothing says that the response did.
 */
export type Finished = {
  kind: 'finished'
  stop: Stop
  finish: string
  usage: Usage
  lacksEnd?: true
  /** How long the provider's limits are exhausted after this answer. Undefined: they are not. */
  exhaustedMs?: Milliseconds
}

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
  /** The provider refused the request for now. Undefined: for another reason, or never. */
  refusedBy?: SlotRefusal
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

/** By default a retry can help with a transient failure only. The provider names no wait. */
export function failedBy(
  code: ErrorCode,
  failureClass: FailureClass,
  reason: string,
  retryable = failureClass === 'transient',
): Failed {
  return { kind: 'failed', code, class: failureClass, reason, retryable, retryAfterMs: null }
}

/** Some events of the stream, or its end. */
export type Streamed = { kind: 'events'; events: PartEvent[] } | Finished | Failed

/** An opaque part of a vendor's JSON that a round trip needs. Only the format's folder reads it. */
export type VendorPart = Readonly<Record<string, unknown>>

/** `arguments`: the text of the model. */
export type AnswerCall = {
  kind: 'call'
  id: string
  name: string
  arguments: string
  vendor?: VendorPart
}

/** A part of an answer, in order. `vendor`: a part that no client runs, such as reasoning. */
export type AnswerItem =
  | { kind: 'text'; text: string; vendor?: VendorPart }
  | AnswerCall
  | { kind: 'vendor'; vendor: VendorPart }

/** A finished answer of a model. `finish`: the provider's word for its end; empty: that of `stop`. */
export type ModelAnswer = {
  id: string
  model: string
  items: readonly AnswerItem[]
  stop: Stop
  finish: string
  usage: Usage
}

/** The same answer with this text. Without calls and reasoning next to it, that is all of it. */
export function withText<Answer extends ModelAnswer>(answer: Answer, text: string): Answer {
  const others = answer.items.filter(({ kind }) => kind !== 'text')
  const items = text === '' ? others : [{ kind: 'text' as const, text }, ...others]
  return { ...answer, items }
}

/** The pieces of an answer, for a history. */
export function piecesOfAnswer(answer: ModelAnswer): Piece[] {
  const { finish, usage } = answer
  const text = textOfAnswer(answer)
  return [
    { kind: 'response', id: undefined },
    ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
    ...callsOfAnswer(answer).map(({ id, name, arguments: sent }) => ({
      kind: 'call' as const,
      id,
      name,
      arguments: sent,
    })),
    { kind: 'ended', usage, finish },
  ]
}

/** The visible text of an answer. */
export function textOfAnswer({ items }: Pick<ModelAnswer, 'items'>): string {
  return items.map((item) => (item.kind === 'text' ? item.text : '')).join('')
}

export function callsOfAnswer({ items }: Pick<ModelAnswer, 'items'>): AnswerCall[] {
  return items.filter((item) => item.kind === 'call')
}

/** The free text of a call whose tool has no schema. Its arguments are an object around it. */
export function freeTextOf({ arguments: text }: AnswerCall): string {
  const { input } = JSON.parse(text) as { input: string }
  return input
}

/** The answer that a folded response makes. The parts that only the vendor reads are lost. */
export function answerOf({ text, calls, stop, finish, usage }: FoldedResponse): ModelAnswer {
  const items: AnswerItem[] = [
    ...(text === '' ? [] : [{ kind: 'text' as const, text }]),
    ...calls.map(({ id, name, raw }) => ({ kind: 'call' as const, id, name, arguments: raw })),
  ]
  return { id: '', model: '', items, stop, finish, usage }
}

type FoldedResponse = {
  text: string
  calls: readonly { id: string; name: string; raw: string }[]
} & Pick<ModelAnswer, 'stop' | 'finish' | 'usage'>
