// The parts that answers of Bedrock have in all of its APIs.

import { messageAnswers } from '../anthropic/events.ts'
import { anthropicModel } from '../anthropic/model.ts'
import { type SentEvent, wholeBody } from '../event-stream.ts'
import type { AnswerFormat, Json } from '../format.ts'
import { type Framing, isStream } from '../framing/framing.ts'
import type { EventData, VendorError } from '../strict/strict.ts'
import { strictObject } from '../strict/strict-json.ts'

/** The lenient reader. `messageOf`: the whole answer as a message of Messages. */
export function framedAnswers(
  framing: Framing,
  messageOf: (body: Json) => Json,
): AnswerFormat['reader'] {
  /** The events of an answer in the terms of Messages. */
  async function* sent(response: Response, onBytes: () => void): AsyncGenerator<SentEvent[], void> {
    if (!isStream(framing, response.headers.get('content-type') ?? '')) {
      const message = messageOf(strictObject(await wholeBody(response, onBytes)))
      yield messageAnswers.whole?.(message, JSON.stringify(message)) ?? []
      return
    }
    const frames = framing.read()
    for await (const piece of response.body ?? []) {
      onBytes()
      yield frames.take(Buffer.from(piece)).map(sentEvent)
    }
    yield frames.end().map(sentEvent)
  }
  return (options) => ({ ...anthropicModel.answer.reader(options), sent })
}

function sentEvent(data: EventData): SentEvent {
  return { event: null, data: JSON.stringify(data) }
}

/** The body of an HTTP error, as AWS's SDKs read it. */
export function bedrockError({ type, message }: VendorError): Json {
  return { ...(type !== null && { __type: type }), message }
}
