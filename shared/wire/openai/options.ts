// The values of a model's options that both APIs of OpenAI have.

import type { ReasoningEffort } from '../../agents/agents.ts'

export const openaiEfforts: readonly ReasoningEffort[] = [
  ...(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const),
]

export const openaiTiers = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const
