// The messages and results of Vercel's AI SDK.
import type { WireFormat } from '../format.ts'
import { answerOfAiSdk, readAiSdk } from './history.ts'

export const aiSdk = {
  name: 'ai-sdk',
  transcript: {
    read: readAiSdk,
    answer: answerOfAiSdk,
    answerName: 'the result of the model, with content',
    lists: ['messages', 'prompt'],
  },
} satisfies WireFormat<'ai-sdk'>
