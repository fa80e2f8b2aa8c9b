// The parts of a request's history and of an answer, in the terms of the proxy.

import type { CallWords, Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'
import { listIn } from '../../../../../shared/wire/request/content.ts'

/** The messages of a request, in order. */
export function historyOf({ request }: ModelFormat, body: Json): Json[] {
  const history = body[request.history]
  return listIn(typeof history === 'string' ? [request.userMessage?.(history)] : history)
}

/** The calls of these messages, in order. */
export function callsIn({ request }: ModelFormat, messages: readonly Json[]): CallWords[] {
  return messages.flatMap(request.calls)
}
