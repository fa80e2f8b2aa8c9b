// Prices of model requests: known ones, the operator's, and unknown ones.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { knownPricesVersion } from '../../../../services/llm-gateway/prices/known-prices.ts'
import { pricesWith } from '../../../../services/llm-gateway/prices/price.ts'
import type { OperatorPrices } from '../../../../shared/contract/messages.ts'

const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 2000, cacheWriteTokens: 0 }
const own: OperatorPrices = {
  type: 'operator-prices',
  version: 'operator 1',
  setBy: 'anna',
  setAt: 1,
  prices: [
    {
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      inputTokens: 1e9,
      outputTokens: 2e9,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    },
  ],
}
const sonnet = { provider: 'anthropic', name: 'claude-sonnet-4-5' }

describe('the price of a model request', () => {
  it('is the known one: cached tokens cost less, and are counted apart from input', () => {
    // 1000 * 3 + 100 * 15 + 2000 * 0.3 US dollars per million
    expect(pricesWith(undefined)(sonnet, usage)).toEqual({
      usd: 5_100_000,
      version: knownPricesVersion,
    })
  })

  it("is the operator's if there is one", () => {
    expect(pricesWith(own)(sonnet, usage)).toEqual({ usd: 1_200_000, version: 'operator 1' })
    const other = { provider: 'openai-chat', name: 'gpt-5' }
    expect(pricesWith(own)(other, usage)).toMatchObject({ version: knownPricesVersion })
  })

  it.each([
    { provider: 'anthropic', name: 'scripted' },
    { provider: 'openai-chat', name: 'gpt-5', baseUrl: 'http://127.0.0.1:1' },
    { provider: 'none', name: 'gpt-5' },
  ])('is unknown for %j', (model) => {
    expect(pricesWith(undefined)(model, usage)).toBeUndefined()
  })

  it('names the version of the installed package', () => {
    const file = join('node_modules', '@pydantic', 'genai-prices', 'package.json')
    const { version } = JSON.parse(readFileSync(file, 'utf8'))
    expect(knownPricesVersion).toBe(`genai-prices ${version}`)
  })
})
