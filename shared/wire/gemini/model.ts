// The large parts of Gemini: requests of agents, and answers.

import { isObject } from '../../lib/json/json-object.ts'
import { answerReader } from '../answer-reader.ts'
import type { ModelParts } from '../format.ts'
import { serverSentEvents } from '../framing/text-framings.ts'
import { geminiChunks, writeResponse } from './answer.ts'
import { geminiAnswers } from './events.ts'
import { objectsIn } from './members.ts'
import { geminiRequest } from './request.ts'
import { geminiStrict } from './strict.ts'

export const geminiModel = {
  write: geminiRequest,
  answer: {
    reader: answerReader(geminiAnswers),
    write: writeResponse,
    counted: (body, usageMetadata) => ({ ...body, usageMetadata }),
    messages: ({ candidates }) =>
      objectsIn({ candidates }, 'candidates').flatMap(({ content }) =>
        isObject(content) ? [content] : [],
      ),
  },
  stream: { framing: serverSentEvents({ isNamed: false }), events: geminiChunks },
  strict: geminiStrict,
} satisfies ModelParts
