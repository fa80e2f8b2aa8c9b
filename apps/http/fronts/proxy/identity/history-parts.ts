// The parts of a request's history and of an answer, in the terms of the proxy.

import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'
import { listIn } from '../../../../../shared/wire/request/content.ts'

/** The messages of a request, in order. */
export function historyOf(api: ModelFormat, body: Json): Json[] {
  const history = body[api.request.history]
  return typeof history === 'string' ? [{ role: 'user', content: history }] : listIn(history)
}

export function answersIn(api: ModelFormat, { choices, output, ...answer }: Json): Json[] {
  if (api.request.history === 'input') return listIn(output)
  return choices === undefined
    ? [answer]
    : listIn(choices).flatMap(({ message }) => (isObject(message) ? [message] : []))
}

/** The ids of the calls of an answer, in order. */
export function callIdsIn(api: ModelFormat, answer: Json): string[] {
  return answersIn(api, answer).flatMap((message) => callsOf(message).map(([id]) => `${id}`))
}

export function callsOf({
  content,
  tool_calls: calls,
  ...message
}: Json): [id: unknown, name: unknown][] {
  const sent = [
    ...listIn(content).filter(({ type }) => type === 'tool_use'),
    ...listIn(calls),
    ...(typeof message.call_id === 'string' ? [message] : []),
  ]
  return sent.map(({ id, call_id: callId, name, function: named }) => [
    callId ?? id,
    isObject(named) ? named.name : name,
  ])
}
