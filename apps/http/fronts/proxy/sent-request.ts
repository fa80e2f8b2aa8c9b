// A request of a client, and an answer of Weir in the place of the model.

import { type ModelAnswer, noUsage } from '../../../../shared/wire/exchange.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../shared/wire/formats.ts'
import { printedEvents } from '../../../../shared/wire/printed-events.ts'
import { routeAt } from './apis.ts'

/** The body of a request: its text, and the value of that text. */
export type SentBody = { text: string; body: Json }

/** `model`: the one that the request names; empty: none. */
export type SentRequest = SentBody & { model: string; isStreamed: boolean }

export function sentRequest(
  { request }: ModelFormat,
  path: string,
  { text, body }: SentBody,
): SentRequest {
  const model = request.model?.(path) ?? body.model
  return {
    text,
    body,
    model: typeof model === 'string' ? model : '',
    isStreamed: routeAt(request, path)?.streams ?? body.stream === true,
  }
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
