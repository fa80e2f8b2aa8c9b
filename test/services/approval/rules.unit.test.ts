import { describe, expect, it, test } from '@jest/globals'
import { type ApprovalRule, compiledRules, ruleFor } from '../../../services/approval/rules.ts'
import type { JsonObject } from '../../../shared/contract/guard/guard.ts'

function waits(rule: Partial<ApprovalRule>, args: JsonObject, tool = 'pay'): boolean {
  return (
    ruleFor({ tool, arguments: args }, compiledRules([{ name: 'r', tools: ['pay'], ...rule }])) !==
    undefined
  )
}

describe('a rule', () => {
  it('matches the tools that its patterns name', () => {
    expect(waits({}, {})).toBe(true)
    expect(waits({}, {}, 'payout')).toBe(false)
    expect(waits({ tools: ['get_*', 'pay*'] }, {}, 'payout')).toBe(true)
  })

  it('matches the arguments that its JSON Schema describes', () => {
    const schema: JsonObject = {
      required: ['amount'],
      properties: { amount: { type: 'number', exclusiveMinimum: 100 } },
    }
    expect(waits({ arguments: schema }, { amount: 101 })).toBe(true)
    expect(waits({ arguments: schema }, { amount: 100 })).toBe(false)
    expect(waits({ arguments: schema }, {})).toBe(false)
  })

  it('matches arguments with a text that matches its pattern', () => {
    const pattern = { path: '/to/0/mail', matches: '@(?:example|test)\\.com$' }
    expect(waits({ pattern }, { to: [{ mail: 'a@example.com' }] })).toBe(true)
    expect(waits({ pattern }, { to: [{ mail: 'a@example.com.org' }] })).toBe(false)
    expect(waits({ pattern }, { to: [] })).toBe(false)
    expect(waits({ pattern: { path: 'n', matches: '^12$' } }, { n: 12 })).toBe(true)
  })

  it('on request matches no call, even with unreadable arguments', () => {
    expect(waits({ when: 'requested' }, {})).toBe(false)
    expect(waits({ when: 'always' }, {})).toBe(true)
    const rules = compiledRules([{ name: 'r', tools: ['pay'], when: 'requested' }])
    expect(ruleFor({ tool: 'pay', arguments: undefined }, rules)).toBeUndefined()
  })

  it('with a schema and a pattern needs both to match', () => {
    const rule: Partial<ApprovalRule> = {
      arguments: { required: ['a'] },
      pattern: { path: 'b', matches: 'x' },
    }
    expect(waits(rule, { a: 1, b: 'x' })).toBe(true)
    expect(waits(rule, { a: 1, b: 'y' })).toBe(false)
    expect(waits(rule, { b: 'x' })).toBe(false)
  })

  it('matches a call whose arguments it cannot evaluate', () => {
    const long = 'a'.repeat(20_000)
    expect(waits({ pattern: { path: 'a', matches: 'b' } }, { a: long })).toBe(true)
    expect(
      waits({ arguments: { properties: { a: { pattern: 'b' } }, required: ['a'] } }, { a: long }),
    ).toBe(true)
  })

  it('matches patterns in linear time, also those that block other engines', () => {
    const text = `${'a'.repeat(15_000)}!`
    expect(waits({ pattern: { path: 'a', matches: '^(a+)+$' } }, { a: text })).toBe(false)
    expect(
      waits(
        { arguments: { properties: { a: { pattern: '^(a|aa)+$' } }, required: ['a'] } },
        { a: text },
      ),
    ).toBe(false)
  })

  it('compares many items without comparing each pair', () => {
    let looks = 0
    const item = (n: number): JsonObject => ({
      get n() {
        looks += 1
        return n
      },
    })
    const rule: Partial<ApprovalRule> = {
      arguments: { properties: { items: { uniqueItems: true } } },
    }
    expect(waits(rule, { items: Array.from({ length: 300 }, (_, n) => item(n)) })).toBe(true)
    expect(looks).toBe(300)
    expect(waits(rule, { items: [item(1), item(2), item(1)] })).toBe(false)
  })

  it('reads patterns like those of a tool, in the syntax of RE2', () => {
    for (const matches of ['\\u0061b', '(?<name>a)b', '(?i)^AB$', '^\\pL+$']) {
      expect(waits({ pattern: { path: 'a', matches } }, { a: 'ab' })).toBe(true)
      expect(waits({ pattern: { path: 'a', matches } }, { a: '-' })).toBe(false)
    }
    expect(waits({ arguments: { properties: { a: { pattern: '^\\u0061' } } } }, { a: 'b' })).toBe(
      false,
    )
  })

  it('keeps the patterns of one schema apart', () => {
    const rule: Partial<ApprovalRule> = {
      arguments: {
        properties: { a: { pattern: '^x' }, b: { pattern: '^y' } },
        required: ['a', 'b'],
      },
    }
    expect(waits(rule, { a: 'x', b: 'y' })).toBe(true)
    expect(waits(rule, { a: 'x', b: 'x' })).toBe(false)
  })

  it('ignores inherited properties of objects', () => {
    expect(waits({ arguments: { required: ['toString'] } }, {})).toBe(false)
    expect(waits({ pattern: { path: 'constructor', matches: '' } }, {})).toBe(false)
  })

  it('applies if it is the first match', () => {
    const rules = compiledRules([
      {
        name: 'large',
        tools: ['pay'],
        arguments: { properties: { amount: { minimum: 100 } }, required: ['amount'] },
      },
      { name: 'any', tools: ['*'] },
    ])
    expect(ruleFor({ tool: 'pay', arguments: { amount: 100 } }, rules)?.name).toBe('large')
    expect(ruleFor({ tool: 'pay', arguments: { amount: 1 } }, rules)?.name).toBe('any')
  })

  it('matches every call of its tools with unreadable arguments', () => {
    const rules = compiledRules([
      { name: 'large', tools: ['pay'], arguments: { required: ['amount'] } },
    ])
    expect(ruleFor({ tool: 'pay', arguments: undefined }, rules)?.name).toBe('large')
    expect(ruleFor({ tool: 'look', arguments: undefined }, rules)).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['no rules', []],
    ['an unknown key', [{ name: 'x', tools: ['x'], argument: {} }]],
    ['no name', [{ tools: ['x'] }]],
    ['no tools', [{ name: 'x', tools: [] }]],
    ['an invalid schema', [{ name: 'x', tools: ['x'], arguments: { type: 'strin' } }]],
    ['an unknown keyword', [{ name: 'x', tools: ['x'], arguments: { propertys: {} } }]],
    [
      'a pattern with look-ahead',
      [{ name: 'x', tools: ['x'], pattern: { path: 'a', matches: '(?=a)' } }],
    ],
    [
      'a pattern with a back-reference in a schema',
      [
        {
          name: 'x',
          tools: ['x'],
          arguments: { properties: { a: { type: 'string', pattern: '(a)\\1' } } },
        },
      ],
    ],
    ['a schema that is false', [{ name: 'x', tools: ['x'], arguments: false }]],
    ['a pattern that is null', [{ name: 'x', tools: ['x'], pattern: null }]],
    [
      'a pattern with flags',
      [{ name: 'x', tools: ['x'], pattern: { path: 'a', matches: 'a', flags: 'i' } }],
    ],
    [
      'a pattern without a path',
      [{ name: 'x', tools: ['x'], pattern: { path: '', matches: 'a' } }],
    ],
  ])('with %s is refused', (_, rules) => {
    expect(() => compiledRules(rules as ApprovalRule[])).toThrow("the approval guard's rules")
  })
})
