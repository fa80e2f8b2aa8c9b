import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import {
  connectOnce,
  providerNamed,
  providers,
} from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../../../shared/agents/policy/policy.ts'

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

const textOf = (path: string) =>
  readFileSync(new URL(`../../../../../${path}`, import.meta.url), 'utf8')

describe('providers', () => {
  it('connect each agent once and share no connection between agents', async () => {
    const connect = connectOnce()
    const [one, other] = [agent('one'), agent('other')]
    expect(connect(one)).toBe(connect(one))
    expect(connect(other)).not.toBe(connect(one))
    await Promise.all([connect(one), connect(other)])
  })

  it('are refused by an unknown name, with the names that exist', () => {
    expect(() => providerNamed('openai')).toThrow(
      'unknown provider "openai": must be anthropic, openai-chat, openai-responses or gemini',
    )
  })

  it('have a first one that the template of weir init uses, with its key variable', () => {
    const [{ name, keyVariable }] = providers
    expect(textOf('apps/cli/init/templates/agent-file/agent.yaml')).toContain(
      `\n  provider: ${name} # the key comes from ${keyVariable}\n`,
    )
  })
})
