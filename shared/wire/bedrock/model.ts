// The large parts of Converse: its answers, in the terms of Messages.

import { isObject } from '../../lib/json/json-object.ts'
import { messageEvents, writeMessage } from '../anthropic/answer.ts'
import { messagesStrict } from '../anthropic/strict.ts'
import type { AnswerParts } from '../format.ts'
import { converseFraming } from './converse-stream.ts'
import { bedrockError, framedAnswers } from './framed-answers.ts'
import { frame } from './frames.ts'
import { converseMessage, converseUsage, messageOfResponse, responseOf } from './messages.ts'

export const bedrockModel = {
  answer: {
    reader: framedAnswers(converseFraming, messageOfResponse),
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
    error: bedrockError,
    repeated: (...denied) => messagesStrict.repeated(...denied).map(converseMessage),
  },
} satisfies AnswerParts
