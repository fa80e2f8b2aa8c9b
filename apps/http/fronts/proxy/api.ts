// An API of a provider, in the terms of the proxy. One record for each API (apis.ts).

import type { GuestFormat } from '../../../../client/guard/guest-conversation.ts'
import type { Stop } from '../../../../shared/contract/messages.ts'
import type { UnjudgedKind } from '../../../../shared/contract/unjudged-kinds.ts'
import type { Streamed } from '../../../../shared/wire/exchange.ts'

export type Json = Record<string, unknown>

/** A request: its text, and the value of that text. */
export type SentRequest = { text: string; body: Json }

/** An answer that Weir gives in the place of the model. */
export type OwnAnswer = { id: string; model: string; text: string; isStreamed: boolean }

export type ProxyApi = {
  /** The end of its paths, in small letters. */
  path: string
  format: GuestFormat
  /** The member with the history. */
  history: 'messages' | 'input'
  /** The member by which a request leaves its history, or its answer, at the provider. */
  elsewhere(body: Json): UnjudgedKind | undefined
  /** Whether the model may call a tool of the client. */
  hasTools(body: Json): boolean
  /** Whether a message of the history is of the model and calls a tool. */
  isCall(message: Json): boolean
  /** Whether a message of the history is of the model. */
  isOfModel(message: Json): boolean
  /** The text of a message of the user; undefined: it is none, or a tool's result. */
  userText(message: Json): string | undefined
  /** The whole body of a successful answer. */
  ownAnswer(answer: OwnAnswer): string
  /** Reads one answer of a model. */
  read(answer: Response): AsyncIterable<Streamed>
  /** The answer that a client assembles, in the form that the readers of histories know. */
  assembled(response: ReadResponse): Json
}

/** The part of a response that a history repeats. */
export type ReadResponse = {
  text: string
  finish: string
  stop: Stop
  calls: readonly { id: string; name: string; raw: string }[]
  usage: {
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
  }
}

export function listIn(value: unknown): Json[] {
  return Array.isArray(value)
    ? value.filter((one): one is Json => typeof one === 'object' && one !== null)
    : []
}

/** The texts of a message's content: a text, or a list with texts of the given types. */
export function textIn(content: unknown, types: readonly string[]): string | undefined {
  if (typeof content === 'string') return content
  const texts = listIn(content).filter(
    ({ type, text }) => types.includes(String(type)) && typeof text === 'string',
  )
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join('\n\n')
}

/** Server-sent events, named by their type if `isNamed`. */
export function eventStream(events: readonly Json[], isNamed: boolean): string {
  return events
    .map((event) => `${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
}
