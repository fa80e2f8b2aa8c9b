// The messages and results of Vercel's AI SDK.
import type { WireFormat } from '../format.ts'
import { answerOfAiSdk, readAiSdk } from './history.ts'

export const aiSdk: WireFormat<'ai-sdk'> = {
  name: 'ai-sdk',
  transcript: {
    read: readAiSdk,
    answer: answerOfAiSdk,
    answerName: 'the result of the model, with content',
  },
}
