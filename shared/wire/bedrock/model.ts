// The large parts of Converse: its answers, in the terms of Messages.

import { isObject } from '../../lib/json/json-object.ts'
import { answerReader } from '../answer-reader.ts'
import { messageEvents, writeMessage } from '../anthropic/answer.ts'
import { messageAnswers } from '../anthropic/events.ts'
import { messagesStrict } from '../anthropic/strict.ts'
import { type SentEvent, wholeBody } from '../event-stream.ts'
import type { AnswerParts } from '../format.ts'
import { isStream } from '../framing/framing.ts'
import type { EventData } from '../strict/strict.ts'
import { strictObject } from '../strict/strict-json.ts'
import { converseFraming, frame } from './frames.ts'
import { converseMessage, converseUsage, messageOfResponse, responseOf } from './messages.ts'

const readMessages = answerReader(messageAnswers)

export const bedrockModel = {
  answer: {
    reader: (options) => ({ ...readMessages(options), sent: sentEvents }),
    write: (answer) => responseOf(writeMessage(answer)),
    counted: (body, usage) => ({ ...body, usage: converseUsage(usage) }),
    messages: ({ output }) =>
      isObject(output) && isObject(output.message) ? [output.message] : [],
  },
  stream: { framing: converseFraming, events: messageEvents },
  strict: {
    ...messagesStrict,
    ping: frame('ping', {}),
    whole: (body) => messagesStrict.whole(messageOfResponse(body)),
    body: (answer, usage) => responseOf(messagesStrict.body(answer, usage)),
    error: ({ type, message }) => ({ ...(type !== null && { __type: type }), message }),
    repeated: (...denied) => messagesStrict.repeated(...denied).map(converseMessage),
  },
} satisfies AnswerParts

/** The events of an answer in the terms of Messages. */
async function* sentEvents(
  response: Response,
  onBytes: () => void,
): AsyncGenerator<SentEvent[], void> {
  if (!isStream(converseFraming, response.headers.get('content-type') ?? '')) {
    const message = messageOfResponse(strictObject(await wholeBody(response, onBytes)))
    yield messageAnswers.whole?.(message, JSON.stringify(message)) ?? []
    return
  }
  const frames = converseFraming.read()
  for await (const piece of response.body ?? []) {
    onBytes()
    yield frames.take(Buffer.from(piece)).map(sentEvent)
  }
  yield frames.end().map(sentEvent)
}

function sentEvent(data: EventData): SentEvent {
  return { event: null, data: JSON.stringify(data) }
}
