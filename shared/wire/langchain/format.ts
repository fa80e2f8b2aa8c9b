// The messages of LangChain and LangGraph.
import type { WireFormat } from '../format.ts'
import { answerOfLangchain, readLangchain } from './history.ts'

export const langchain = {
  name: 'langchain',
  transcript: {
    read: readLangchain,
    answer: answerOfLangchain,
    answerName: 'the AI message',
    lists: ['messages'],
  },
} satisfies WireFormat<'langchain'>
