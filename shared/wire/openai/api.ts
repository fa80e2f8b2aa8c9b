// The parts that both APIs of OpenAI share: options of a model, key, address.

import type { ReasoningEffort } from '../../agents/agents.ts'
import type { AgentFormat } from '../format.ts'

export const openaiEfforts: readonly ReasoningEffort[] = [
  ...(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const),
]

export const openaiTiers = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const

/** Also of servers that copy the API. */
export function openaiApi(path: string): Pick<AgentFormat, 'keyVariable' | 'target' | 'check'> {
  return {
    keyVariable: 'OPENAI_API_KEY',
    target: { sdk: 'openai', path },
    check: ({ baseUrl = 'https://api.openai.com/v1', apiKey, path: model }) => ({
      url: `${baseUrl}/models/${model}`,
      headers: { ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }) },
    }),
  }
}
