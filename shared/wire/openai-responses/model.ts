// The large parts of Responses: requests of agents, and answers.

import { answerReader } from '../answer-reader.ts'
import type { ModelParts } from '../format.ts'
import { serverSentEvents } from '../framing/text-framings.ts'
import { listIn } from '../request/content.ts'
import { responseEvents, writeResponse } from './answer.ts'
import { responseAnswers } from './events.ts'
import { responsesRequest } from './request.ts'
import { responsesStrict } from './strict.ts'

export const openaiResponsesModel = {
  write: responsesRequest,
  answer: {
    reader: answerReader(responseAnswers),
    write: writeResponse,
    counted: (body, usage) => ({ ...body, usage }),
    messages: ({ output }) => listIn(output),
  },
  stream: { framing: serverSentEvents({ isNamed: true }), events: responseEvents },
  strict: responsesStrict,
} satisfies ModelParts
