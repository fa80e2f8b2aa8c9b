// The options of `weir budget set` and the file of `weir budget prices`.

import { describe, expect, it } from '@jest/globals'
import { type BudgetOptions, budgetOf } from '../../../../apps/service/budgets/change.ts'
import { pricesIn } from '../../../../apps/service/budgets/prices.ts'
import { budgetId } from '../../../../shared/contract/topology.ts'

const day = { window: 'day' } as const

describe('weir budget set', () => {
  it.each<[string, Partial<BudgetOptions>, object]>([
    ['default/tenant/day/tokens', { tokens: '5' }, { hard: 5, soft: null }],
    ['acme/tenant/day/usd', { tenant: 'acme', money: '0.5usd' }, { hard: 500_000_000 }],
    ['*/agent:*/day/usd', { tenant: '*', agent: '*', softMoney: '1USD' }, { hard: null }],
    ['acme/conversation:acme:c/day/tokens', { conversation: 'acme:c', tokens: '1' }, {}],
    ['*/agent:bank/turn/tokens', { agent: 'bank', window: 'turn', tokens: '0' }, { hard: 0 }],
    ['acme/agent:bank/day/tokens', { tenant: 'acme', agent: 'bank', tokens: '5' }, { hard: 5 }],
    ['*/conversation:*/day/tokens', { conversation: '*', tokens: '5' }, { hard: 5 }],
    ['default/conversation:c/day/tokens', { conversation: 'c', tokens: '5' }, { hard: 5 }],
    ['default/tenant/day/usd', { money: '1USD', unpriced: 'allow' }, { unpriced: 'allow' }],
  ])('makes the budget %s', (id, options, fields) => {
    const budget = budgetOf({ ...day, ...options })
    expect(budgetId(budget)).toBe(id)
    expect(budget).toMatchObject(fields)
  })

  it.each<[string, Partial<BudgetOptions>, RegExp]>([
    ['no amount', {}, /^no amount is given/],
    [
      'tokens and money',
      { tokens: '1', money: '1USD' },
      /^tokens and money are given: a budget counts one of them, so set two budgets$/,
    ],
    ['a negative amount', { money: '-1USD' }, /--money '-1USD' is negative/],
    ['negative tokens', { tokens: '-1' }, /--tokens '-1' is negative/],
    ['half a token', { tokens: '0.5' }, /is no number of tokens: give digits only/],
    ['too many tokens', { tokens: '1000000000000000' }, /is more than 999999999999999 tokens/],
    ['another currency', { money: '5EUR' }, /is in another currency/],
    ['no currency', { money: '5' }, /has no currency: give 5USD/],
    ['a text', { money: 'much' }, /is no amount/],
    ['too much money', { money: '1000001USD' }, /is more than 1000000 USD/],
    ['a bad tenant', { tenant: 'A b', tokens: '1' }, /--tenant 'A b' is no tenant/],
    ['a reserved tenant', { tenant: 'guest', tokens: '1' }, /is no tenant/],
    ['an agent and a conversation', { agent: 'a', conversation: 'c', tokens: '1' }, /not both/],
    ['an empty agent', { agent: '', tokens: '1' }, /--agent has 0 bytes/],
    [
      'a conversation of another tenant',
      { tenant: 'acme', conversation: 'other:c', tokens: '1' },
      /belongs to the tenant other, not to acme: .* as in acme:order-7$/,
    ],
    ['a soft amount above', { tokens: '1', softTokens: '2' }, /the soft amount is above/],
    ['unpriced with tokens', { tokens: '1', unpriced: 'allow' }, /--unpriced has no effect/],
  ])('refuses %s', (_, options, message) => {
    expect(() => budgetOf({ ...day, ...options })).toThrow(message)
  })
})

describe('weir budget prices', () => {
  it('reads US dollars per million tokens; the cache costs as much as input by default', () => {
    const text = '{ "anthropic/m/x": { "input": 3, "output": 15, "cacheRead": 0.3 } }'
    expect(pricesIn('p.json', JSON.parse(text))).toEqual([
      {
        provider: 'anthropic',
        model: 'm/x',
        inputTokens: 3e9,
        outputTokens: 15e9,
        cacheReadTokens: 3e8,
        cacheWriteTokens: 3e9,
      },
    ])
  })

  it.each([
    ['a list', '[]', /must be an object/],
    ['an unknown provider', '{"x/m":{"input":1,"output":1}}', /must be PROVIDER\/MODEL/],
    ['no model', '{"anthropic":{"input":1,"output":1}}', /must be PROVIDER\/MODEL/],
    ['a missing price', '{"anthropic/m":{"input":1}}', /'anthropic\/m.output' is missing/],
    ['a negative price', '{"anthropic/m":{"input":-1,"output":1}}', /must be 0 to 1000000/],
    ['an unknown price', '{"anthropic/m":{"input":1,"output":1,"x":1}}', /m.x' is no price/],
  ])('refuses %s', (_, text, message) => {
    expect(() => pricesIn('p.json', JSON.parse(text))).toThrow(message)
  })
})
