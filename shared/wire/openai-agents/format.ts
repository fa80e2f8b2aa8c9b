// The items and responses of OpenAI's Agents SDK.

import type { WireFormat } from '../format.ts'
import { answerOfOpenai } from '../openai/history.ts'
import { readOpenaiAgents } from './history.ts'

export const openaiAgents: WireFormat<'openai-agents'> = {
  name: 'openai-agents',
  transcript: {
    read: readOpenaiAgents,
    answer: answerOfOpenai,
    answerName: 'the response of the model, with output',
  },
}
