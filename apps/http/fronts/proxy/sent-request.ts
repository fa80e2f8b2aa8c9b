// A request of a client, and an answer of Weir in the place of the model.

import { type ModelAnswer, noUsage } from '../../../../shared/wire/exchange.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../shared/wire/formats.ts'
import { printedEvents } from '../../../../shared/wire/printed-events.ts'

/** A request: its text, and the value of that text. */
export type SentRequest = { text: string; body: Json }

/** The model that a request names. Empty: none. */
export function modelOf({ body }: SentRequest): string {
  return typeof body.model === 'string' ? body.model : ''
}

/** An answer with this text of Weir. */
export function ownAnswer(id: string, model: string, text: string): ModelAnswer {
  const items = text === '' ? [] : [{ kind: 'text' as const, text }]
  return { id, model, items, stop: 'end', finish: '', usage: noUsage }
}

/** The whole body of a successful answer. */
export function answerBody(api: ModelFormat, answer: ModelAnswer, isStreamed: boolean): string {
  return isStreamed
    ? printedEvents(api.stream, api.stream.events(answer))
    : JSON.stringify(api.answer.write(answer))
}
