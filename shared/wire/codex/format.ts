// The sessions of Codex: a line for each item of OpenAI's Responses, in an envelope, and other lines.

import { isObject } from '../../lib/json/json-object.ts'
import type { WireFormat } from '../format.ts'
import { openaiItems } from '../openai-responses/format.ts'

export const codex = {
  name: 'codex',
  session: {
    messages: openaiItems,
    message: ({ type, payload }) =>
      type === 'response_item' && isObject(payload) ? payload : undefined,
    time: 'timestamp',
    stored: { home: '.codex', variable: 'CODEX_HOME', inside: 'sessions', ending: '.jsonl' },
  },
} satisfies WireFormat<'codex'>
