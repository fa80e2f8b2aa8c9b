import { describe, expect, it } from '@jest/globals'
import { providers } from '../../../../services/llm-gateway/providers/providers.ts'
import { type Agent, defaultSettings } from '../../../../shared/agents/agents.ts'

const agent = (name: string): Agent => ({
  name,
  system: '',
  model: {
    provider: 'anthropic',
    name: 'none',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'none',
    maxOutputTokens: 100,
  },
  tools: [],
  settings: defaultSettings,
})

describe('providers', () => {
  it('are made once for each agent, and never shared by two', () => {
    const connect = providers()
    const [one, other] = [agent('one'), agent('other')]
    expect(connect(one)).toBe(connect(one))
    expect(connect(other)).not.toBe(connect(one))
  })
})
