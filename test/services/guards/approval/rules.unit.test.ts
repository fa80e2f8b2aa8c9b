import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import { canonicalJson } from '../../../../services/guards/approval/canonical-json.ts'
import type { ApprovalRule } from '../../../../services/guards/approval/rules.ts'
import { compiledRules, ruleFor } from '../../../../services/guards/approval/rules.ts'
import type { JsonObject, JsonValue } from '../../../../shared/guard.ts'

function waits(rule: Partial<ApprovalRule>, args: JsonObject, tool = 'pay'): boolean {
  return ruleFor({ tool, arguments: args }, compiledRules([{ name: 'r', tools: ['pay'], ...rule }])) !== undefined
}

describe('a rule', () => {
  it('takes the tools that its patterns name', () => {
    expect(waits({}, {})).toBe(true)
    expect(waits({}, {}, 'payout')).toBe(false)
    expect(waits({ tools: ['get_*', 'pay*'] }, {}, 'payout')).toBe(true)
  })

  it('takes the arguments that its JSON Schema describes', () => {
    const schema: JsonObject = { required: ['amount'], properties: { amount: { type: 'number', exclusiveMinimum: 100 } } }
    expect(waits({ arguments: schema }, { amount: 101 })).toBe(true)
    expect(waits({ arguments: schema }, { amount: 100 })).toBe(false)
    expect(waits({ arguments: schema }, {})).toBe(false)
  })

  it('takes the arguments of which a text matches its pattern', () => {
    const pattern = { path: '/to/0/mail', matches: '@(?:example|test)\\.com$' }
    expect(waits({ pattern }, { to: [{ mail: 'a@example.com' }] })).toBe(true)
    expect(waits({ pattern }, { to: [{ mail: 'a@example.com.org' }] })).toBe(false)
    expect(waits({ pattern }, { to: [] })).toBe(false)
    expect(waits({ pattern: { path: 'n', matches: '^12$' } }, { n: 12 })).toBe(true)
  })

  it('wants both parts to match where it has both', () => {
    const rule: Partial<ApprovalRule> = { arguments: { required: ['a'] }, pattern: { path: 'b', matches: 'x' } }
    expect(waits(rule, { a: 1, b: 'x' })).toBe(true)
    expect(waits(rule, { a: 1, b: 'y' })).toBe(false)
    expect(waits(rule, { b: 'x' })).toBe(false)
  })

  it('lets a call wait whose arguments it cannot match', () => {
    const long = 'a'.repeat(20_000)
    expect(waits({ pattern: { path: 'a', matches: 'b' } }, { a: long })).toBe(true)
    expect(waits({ arguments: { properties: { a: { pattern: 'b' } }, required: ['a'] } }, { a: long })).toBe(true)
  })

  it('matches patterns in linear time, also those that take others for ever', () => {
    const text = `${'a'.repeat(15_000)}!`
    expect(waits({ pattern: { path: 'a', matches: '^(a+)+$' } }, { a: text })).toBe(false)
    expect(waits({ arguments: { properties: { a: { pattern: '^(a|aa)+$' } }, required: ['a'] } }, { a: text })).toBe(false)
  })

  it('tells the patterns of one schema apart', () => {
    const rule: Partial<ApprovalRule> = { arguments: { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } }, required: ['a', 'b'] } }
    expect(waits(rule, { a: 'x', b: 'y' })).toBe(true)
    expect(waits(rule, { a: 'x', b: 'x' })).toBe(false)
  })

  it('does not see what objects inherit', () => {
    expect(waits({ arguments: { required: ['toString'] } }, {})).toBe(false)
    expect(waits({ pattern: { path: 'constructor', matches: '' } }, {})).toBe(false)
  })

  it('is the first that matches', () => {
    const rules = compiledRules([
      { name: 'large', tools: ['pay'], arguments: { properties: { amount: { minimum: 100 } }, required: ['amount'] } },
      { name: 'any', tools: ['*'] },
    ])
    expect(ruleFor({ tool: 'pay', arguments: { amount: 100 } }, rules)?.name).toBe('large')
    expect(ruleFor({ tool: 'pay', arguments: { amount: 1 } }, rules)?.name).toBe('any')
  })

  test.each<[string, unknown]>([
    ['no rules', []],
    ['no name', [{ tools: ['x'] }]],
    ['no tools', [{ name: 'x', tools: [] }]],
    ['a schema that is none', [{ name: 'x', tools: ['x'], arguments: { type: 'strin' } }]],
    ['an unknown keyword', [{ name: 'x', tools: ['x'], arguments: { propertys: {} } }]],
    ['a pattern with look-ahead', [{ name: 'x', tools: ['x'], pattern: { path: 'a', matches: '(?=a)' } }]],
    [
      'a pattern with a back-reference in a schema',
      [{ name: 'x', tools: ['x'], arguments: { properties: { a: { type: 'string', pattern: '(a)\\1' } } } }],
    ],
    ['a pattern without a path', [{ name: 'x', tools: ['x'], pattern: { path: '', matches: 'a' } }]],
  ])('with %s is refused', (_, rules) => {
    expect(() => compiledRules(rules as ApprovalRule[])).toThrow("the approval guard's rules")
  })
})

describe('canonical JSON', () => {
  test.each<[JsonValue, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [
      { '\u20ac': 'Euro', '\r': 'CR', '\ufb33': 'Hebrew', '1': 'One', '😀': 'Emoji', '\u0080': 'Control', ö: 'o' },
      '{"\\r":"CR","1":"One","\u0080":"Control","ö":"o","€":"Euro","😀":"Emoji","\ufb33":"Hebrew"}',
    ],
    [[333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
    ['\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [{ a: { d: {}, c: [] } }, '{"a":{"c":[],"d":{}}}'],
  ])('%j', (value, text) => expect(canonicalJson(value)).toBe(text))

  it('is the same for the same value and reads back as it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false } as object), (value) => {
        const text = canonicalJson(value as JsonValue)
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text)
      }),
    )
  })

  test.each<[JsonValue]>([[Number.NaN], [Number.POSITIVE_INFINITY], ['\ud800'], [{ '\udc00': 1 }]])(
    'refuses %p, which has no one form',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(RangeError)
    },
  )
})
