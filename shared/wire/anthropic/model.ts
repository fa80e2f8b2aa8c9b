// The large parts of Messages: requests of agents, and answers.

import { answerReader } from '../answer-reader.ts'
import type { ModelParts } from '../format.ts'
import { serverSentEvents } from '../framing/text-framings.ts'
import { joinedDeltas } from '../joined-deltas.ts'
import { messageEvents, writeMessage } from './answer.ts'
import { messageAnswers } from './events.ts'
import { messageRequest } from './request.ts'
import { messagesStrict } from './strict.ts'

export const anthropicModel = {
  write: (agent, body) => ({ ...messageRequest(agent, body), stream: true }),
  answer: {
    reader: answerReader(messageAnswers),
    write: writeMessage,
    counted: (body, usage) => ({ ...body, usage }),
    messages: (body) => [body],
  },
  stream: {
    framing: serverSentEvents({ isNamed: true }),
    events: messageEvents,
    joined: joinedDeltas({
      head: String.raw`(?:event: content_block_delta\n)?data: \{"type":"content_block_delta","index":\d{1,6},"delta":\{"type":"text_delta","text":"`,
      tail: String.raw`"\} {0,99}\} {0,99}`, // the API fills events with blanks
    }),
  },
  strict: messagesStrict,
} satisfies ModelParts
