// The large parts of Chat Completions: requests of agents, and answers.

import { isObject } from '../../lib/json/json-object.ts'
import { answerReader } from '../answer-reader.ts'
import type { Json, ModelParts } from '../format.ts'
import { serverSentEvents } from '../framing/text-framings.ts'
import { joinedDeltas } from '../joined-deltas.ts'
import { listIn } from '../request/content.ts'
import { chatEvents, writeCompletion } from './answer.ts'
import { chatAnswers } from './events.ts'
import { chatRequest } from './request/request.ts'
import { chatStrict } from './strict.ts'

export const openaiChatModel = {
  write: chatRequest,
  answer: {
    reader: answerReader(chatAnswers),
    write: writeCompletion,
    counted: (body, usage) => ({ ...body, usage }),
    messages: messagesIn,
  },
  stream: {
    framing: serverSentEvents({ isNamed: false }),
    events: chatEvents,
    joined: joinedDeltas({
      head: String.raw`data: \{(?:"(?:id|object|created|model|system_fingerprint|service_tier)":(?:"[^"\\\n]{0,200}"|\d{1,20}|null),){0,9}"choices":\[\{"index":0,"delta":\{(?:"role":"assistant",)?"content":"`,
      tail: String.raw`"\}(?:,"(?:logprobs|finish_reason)":null){0,2}\}\](?:,"usage":null)?\}`,
    }),
  },
  strict: chatStrict,
} satisfies ModelParts

function messagesIn({ choices }: Json): Json[] {
  return listIn(choices).flatMap(({ message }) => (isObject(message) ? [message] : []))
}
