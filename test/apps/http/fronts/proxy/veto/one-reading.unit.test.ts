import { describe, expect, it } from '@jest/globals'
import { hasOneReading } from '../../../../../../apps/http/fronts/proxy/veto/one-reading.ts'

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
  ])('is not %s', (text) => expect(hasOneReading(text)).toBe(false))
})
