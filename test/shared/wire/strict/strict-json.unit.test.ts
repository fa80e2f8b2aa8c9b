import { describe, expect, it } from '@jest/globals'
import { hasOneReading, strictObject } from '../../../../shared/wire/strict/strict-json.ts'

describe('a text that all parsers read alike', () => {
  it.each([
    '{"choices":[{"index":0,"delta":{"content":"a \\"content\\": b"}},{"index":1,"delta":{}}]}',
    '{"type":"tool_use","id":"i","name":"n","input":{"Id":1,"id":2,"Name":[{"a":1,"A":2}]}}',
    '{"response":{"tools":[{"parameters":{"properties":{"ID":{},"Type":{}}}}],"output":[]}}',
    '{"a":{"x":1},"b":{"x":1}}',
    '{"x_Groq":{"Id2":1}}',
    '[]',
  ])('is %s', (text) => expect(hasOneReading(text)).toBe(true))

  it.each([
    '{"choices":[{"delta":{"Tool_Calls":[]}}]}',
    '{"choices":[{"delta":{"tool_calls":[1],"delta":{}}},{"delta":{"tool_calls":[]},"delta":{"content":"x"}}]}',
    '{"choices":[{"delta":{"tool_call\\u0073":[1],"content":"","tool_calls":[]}}]}',
    '{"choices":[{"delta":{"tool_call\u017f":[1]}}]}',
    '{"delta":{"content":"x"}, "DELTA" : {"content":"y"}}',
    '{"input":{"a":1,"A":2},"name":"x","Name":"y"}',
    '{"any":1,"any":2}',
    '{"input":{"command":"ls","command":"rm"}}',
    '{"delta":{"__proto__":{"tool_calls":[]}}}',
  ])('is not %s', (text) => expect(hasOneReading(text)).toBe(false))
})

describe('the object of a strict text', () => {
  it.each([
    ['no JSON', '{"a":1'],
    ['a second value', '{"a":1}{"b":2}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a list', '[{"a":1}]'],
    ['a name twice', '{"a":1,"a":2}'],
    ['more depth than a parser may bear', `{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`],
  ])('does not exist for %s', (_, text) => expect(() => strictObject(text)).toThrow(/^it |^an /))

  it('keeps the digits of its numbers when it is printed', () => {
    const text = '{"a":1.50,"b":9007199254740993,"c":-0,"d":1e400}'
    expect(JSON.stringify(strictObject(text))).toBe(text)
  })
})
