// The end of a turn by Weir, in the stream of a client.

import type { ModelAnswer } from '../exchange.ts'
import type { AnswerParts } from '../format.ts'
import type { ClientStream, EventData } from './strict.ts'

/** The events of an answer of Weir, which is one more attempt. */
export function ownAttempt(
  { stream, strict }: Required<Pick<AnswerParts, 'stream' | 'strict'>>,
  client: ClientStream,
  answer: ModelAnswer,
): EventData[] {
  const reader = strict.stream()
  const events = stream.events(answer) as EventData[]
  const shown = client.shown(events.flatMap((data) => reader.read(data)))
  return [...shown, ...client.rest(reader.end())]
}
