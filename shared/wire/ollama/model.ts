// The large parts of Ollama's API: its answers.

import { isObject } from '../../lib/json/json-object.ts'
import { answerReader } from '../answer-reader.ts'
import type { AnswerParts } from '../format.ts'
import { jsonLines } from '../framing/text-framings.ts'
import { ollamaLines, writeResponse } from './answer.ts'
import { ollamaAnswers } from './events.ts'
import { ollamaStrict } from './strict.ts'

export const ollamaModel = {
  answer: {
    reader: answerReader(ollamaAnswers),
    write: writeResponse,
    counted: (body, usage) => ({ ...body, ...usage }),
    messages: ({ message }) => (isObject(message) ? [message] : []),
  },
  stream: { framing: jsonLines, events: ollamaLines },
  strict: ollamaStrict,
} satisfies AnswerParts
