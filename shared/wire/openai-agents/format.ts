// The items and responses of OpenAI's Agents SDK.

import type { TranscriptFormat, WireFormat } from '../format.ts'
import { answerOfOpenai } from '../openai/history.ts'
import { itemListNames, piecesOfRunItem, readOpenaiAgents } from './history.ts'

const transcript: TranscriptFormat = {
  read: readOpenaiAgents,
  answer: answerOfOpenai,
  answerName: 'the response of the model, with output',
  lists: ['originalInput', 'original_input', ...itemListNames],
  file: { name: 'openai-agents', item: piecesOfRunItem, prefills: false },
}

export const openaiAgents = {
  name: 'openai-agents',
  transcript,
  /** The SDK's table of sessions: a row for each item, as a text. */
  session: { messages: transcript, message: ({ message_data: item }) => item },
} satisfies WireFormat<'openai-agents'>
