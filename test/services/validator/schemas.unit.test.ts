import { describe, expect, it } from '@jest/globals'
import { checkedArguments } from '../../../services/validator/reducer.ts'
import type { UsableSchema } from '../../../shared/contract/arguments/compiled-schema.ts'
import { schemaStepsMax } from '../../../shared/contract/arguments/schema-steps.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { callOf, rejectionOf, tool } from './round.ts'

const draft2020 = 'https://json-schema.org/draft/2020-12/schema'
const draft07 = 'http://json-schema.org/draft-07/schema#'

describe('arguments that break the schema', () => {
  it.each<[string, object, unknown, string]>([
    ['a type', { properties: { n: { type: 'integer' } } }, { n: '1' }, "field 'n' must be integer"],
    [
      'one of several types',
      { properties: { n: { type: ['integer', 'boolean'] } } },
      { n: '1' },
      "field 'n' must be integer or boolean",
    ],
    [
      'an enumeration',
      { properties: { unit: { enum: ['c', 'f'] } } },
      { unit: 'k' },
      `field 'unit' must be one of "c", "f"`,
    ],
    ['a constant', { properties: { v: { const: 2 } } }, { v: 3 }, "field 'v' must be 2"],
    ['a bound', { properties: { n: { minimum: 1 } } }, { n: 0 }, "field 'n' must be >= 1"],
    [
      'a pattern',
      { properties: { id: { pattern: '^\\d+$' } } },
      { id: 'x' },
      `field 'id' must match pattern "^\\d+$"`,
    ],
    [
      'a format',
      { properties: { at: { format: 'date-time' } } },
      { at: 'noon' },
      `field 'at' must match format "date-time"`,
    ],
    [
      'no further fields',
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, b: 2 },
      "unknown field 'b'",
    ],
    [
      'a field inside',
      { properties: { items: { items: { required: ['id'] } } } },
      { items: [{ id: 1 }, {}] },
      "missing required field 'items[1].id'",
    ],
    [
      'names with slashes',
      { properties: { 'a/b': { properties: { '~c': { type: 'string' } } } } },
      { 'a/b': { '~c': 1 } },
      "field 'a/b.~c' must be string",
    ],
    [
      'a choice',
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      'the arguments must match a schema in anyOf',
    ],
    [
      'different items',
      { properties: { tags: { uniqueItems: true } } },
      {
        tags: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      "field 'tags' must not have the same item twice",
    ],
    ['nothing', { not: {} }, {}, 'the arguments must NOT be valid'],
  ])('are refused with the mistake and its place: %s', (_, schema, value, reason) => {
    expect(rejectionOf(callOf(JSON.stringify(value)), [tool('exec', schema)])).toMatchObject({
      code: 'schema',
      reason,
    })
  })

  it('are refused without coercion or defaults', () => {
    const schema = {
      properties: { n: { type: 'integer', default: 1 }, b: { type: 'boolean' } },
      required: ['n'],
    }
    for (const raw of ['{"n":"1"}', '{"n":1,"b":"true"}', '{"n":1,"b":1}', '{}', '{"n":1.5}'])
      expect(rejectionOf(callOf(raw), [tool('exec', schema)])?.code).toBe('schema')
    expect(rejectionOf(callOf('{"n":1.0}'), [tool('exec', schema)])).toBeUndefined()
  })

  it('have the same reason for the same mistake, and other details in the notes', () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
      additionalProperties: false,
    }
    const denial = rejectionOf(callOf('{"a":1,"b":2,"z":3}'), [tool('exec', schema)])
    expect(denial?.reason).toBe("unknown field 'z'")
    expect(denial?.text.split('\n').slice(4)).toEqual([
      "Also wrong: field 'a' must be string; field 'b' must be string.",
      "You sent a number for field 'a'.",
      "You sent a number for field 'b'.",
      "Accepted fields: 'a', 'b', 'c'.",
    ])
    expect(
      rejectionOf(callOf('{"z":{"deep":[1,2,3]},"b":0,"a":0}'), [tool('exec', schema)])?.reason,
    ).toBe("unknown field 'z'")
  })

  it('report the missing fields of each branch of a choice', () => {
    const schema = { anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(rejectionOf(callOf('{}'), [tool('exec', schema)])?.text).toContain(
      "Also wrong: missing required field 'a'; missing required field 'b'.",
    )
  })

  it('report all types of a choice together, not one after the other', () => {
    const schema = {
      properties: { v: { anyOf: [{ type: 'string' }, { type: ['number', 'null'] }] } },
    }
    const denial = rejectionOf(callOf('{"v":[]}'), [tool('exec', schema)])
    expect(denial?.reason).toBe("field 'v' must be string or number or null")
    expect(denial?.text).not.toContain('Also wrong')
  })

  it("report a choice's errors only for the branch that a constant selects", () => {
    const branch = (kind: string, name: string) => ({
      type: 'object',
      required: ['kind', name],
      properties: { kind: { const: kind }, [name]: { type: 'number' } },
    })
    const schema = {
      properties: { v: { oneOf: [branch('circle', 'radius'), branch('box', 'width')] } },
    }
    const denial = rejectionOf(callOf('{"v":{"kind":"box","width":"3"}}'), [tool('exec', schema)])
    expect(denial?.text.split('\n').slice(4)).toEqual([
      "Also wrong: field 'v.width' must be number.",
      "You sent a string for field 'v.width'.",
    ])
  })

  it('report a choice in a list item by item', () => {
    const schema = {
      properties: { v: { items: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
    }
    const value = Array.from({ length: 12 }, (_, n) => (n === 1 || n === 11 ? null : n))
    expect(
      rejectionOf(callOf(JSON.stringify({ v: value })), [tool('exec', schema)])?.text,
    ).toContain("Also wrong: field 'v[11]' must be string or number.")
  })

  it('name the field whose name is not accepted', () => {
    const schema = { properties: { env: { propertyNames: { pattern: '^[a-z]+$' } } } }
    const denial = rejectionOf(callOf('{"env":{"A1":"x"}}'), [tool('exec', schema)])
    expect(denial?.reason).toBe("the name of field 'env.A1' is not accepted")
    expect(denial?.text).toContain(
      `Also wrong: the name of field 'env.A1' must match pattern "^[a-z]+$".`,
    )
  })

  it('report the rule of a condition, not the condition itself', () => {
    const schema: object = JSON.parse(
      '{"if":{"properties":{"mode":{"const":"x"}}},"then":{"properties":{"n":{"type":"integer"}}}}',
    )
    const denial = rejectionOf(callOf('{"mode":"x","n":"1"}'), [tool('exec', schema)])
    expect(denial?.reason).toBe("field 'n' must be integer")
    expect(denial?.text).not.toContain('"then"')
  })

  it('are refused for a number that is too large, because readers differ in its value', () => {
    const denial = rejectionOf(callOf('{"n":1e400}'), [
      tool('exec', { properties: { n: { type: 'number' } } }),
    ])
    expect(denial?.text).toContain("You sent a number that is too large for field 'n'.")
  })

  it('explain how to send an object that came as a text', () => {
    expect(rejectionOf(callOf('"{\\"a\\":1}"'), [tool('exec', {})])?.text).toContain(
      'Send the object itself, not its text inside a string.',
    )
    expect(rejectionOf(callOf('"x"'), [tool('exec', {})])?.text).not.toContain(
      'Send the object itself',
    )
  })

  it('get a short explanation for any number of errors', () => {
    const schema = { properties: { list: { items: { type: 'string' } } } }
    const list = (count: number) => JSON.stringify({ list: new Array(count).fill(1) })
    const also = rejectionOf(callOf(list(2_000)), [tool('exec', schema)])?.text.split('\n')[4]
    expect(also).toBe(
      `Also wrong: ${[1, 2, 3, 4, 5].map((n) => `field 'list[${n}]' must be string`).join('; ')}.`,
    )
    expect(rejectionOf(callOf(list(200_000)), [tool('exec', schema)])?.reason).toBe(
      "field 'list[0]' must be string",
    )
  })

  it('need words and lookups only for reported errors', () => {
    let worded = 0
    let lookups = 0
    const errors = Array.from({ length: 1_000 }, (_, n) => ({
      keyword: 'additionalProperties',
      instancePath: '',
      schemaPath: '',
      get params() {
        worded += 1
        return { additionalProperty: `pathh${n}` }
      },
      get parentSchema() {
        lookups += 1
        return { properties: { path: {} } }
      },
    }))
    const schema: UsableSchema = {
      kind: 'usable',
      patternsSize: 0,
      schema: { properties: { path: {} } },
      judge: () => ({ kind: 'invalid', errors: errors.slice(0, 1) }),
      explain: () => ({ kind: 'invalid', errors }),
    }
    const refusal = checkedArguments(callOf('{"pathh0":1}'), schema, {
      isGuarded: false,
      ruled: [],
    })
    if ('text' in refusal) throw new Error('the arguments passed')
    expect(refusal.alsoWrong).toEqual([1, 2, 3, 4, 5].map((n) => `unknown field 'pathh${n}'`))
    expect(refusal.notes).toEqual(["Did you mean 'path'?", "Accepted fields: 'path'."])
    expect(lookups).toBeLessThan(10)
    expect(worded).toBeLessThan(50)
  })
})

describe('dialects', () => {
  const tuple07 = { items: [{ type: 'string' }, { type: 'number' }], type: 'array' }
  const tuple2020 = { prefixItems: [{ type: 'string' }, { type: 'number' }], type: 'array' }

  it('are draft-07 and 2020-12, selected by $schema', () => {
    expect(reasonFor({ $schema: draft07, properties: { t: tuple07 } }, { t: ['a', 'b'] })).toBe(
      "field 't[1]' must be number",
    )
    expect(reasonFor({ $schema: draft2020, properties: { t: tuple2020 } }, { t: ['a', 'b'] })).toBe(
      "field 't[1]' must be number",
    )
    expect(
      reasonFor(
        { $schema: 'http://json-schema.org/draft-07/schema', properties: { t: tuple07 } },
        { t: ['a', 1] },
      ),
    ).toBeUndefined()
    expect(
      reasonFor(
        {
          $schema: draft07,
          definitions: { s: { type: 'string' } },
          properties: { a: { $ref: '#/definitions/s' } },
        },
        { a: 1 },
      ),
    ).toBe("field 'a' must be string")
  })

  it('are 2020-12 without $schema, and draft-07 for keywords that only it allows', () => {
    expect(reasonFor({ properties: { t: tuple2020 } }, { t: ['a', 'b'] })).toBe(
      "field 't[1]' must be number",
    )
    expect(reasonFor({ properties: { t: tuple07 } }, { t: ['a', 'b'] })).toBe(
      "field 't[1]' must be number",
    )
    expect(unusable({ $schema: draft2020, properties: { t: tuple07 } })).toContain(
      'it is not a valid JSON Schema',
    )
  })

  it('exclude all others: an unreadable schema is not guessed', () => {
    for (const $schema of [
      'http://json-schema.org/draft-04/schema#',
      'https://example.com/mine',
      7,
    ])
      expect(unusable({ $schema })).toContain(
        'its $schema is neither JSON Schema 2020-12 nor draft-07',
      )
  })
})

describe('helpful notes', () => {
  const hintsFor = (schema: object, value: unknown) =>
    rejectionOf(callOf(JSON.stringify(value)), [tool('exec', schema)])
      ?.text.split('\n')
      .slice(4)

  it.each<[string, object, unknown, string]>([
    [
      'the nearest allowed value',
      { properties: { unit: { enum: ['celsius', 'fahrenheit'] } } },
      { unit: 'Celcius' },
      "Did you mean 'celsius'?",
    ],
    [
      'the nearest field',
      { properties: { path: {} }, additionalProperties: false },
      { pathh: 'a' },
      "Did you mean 'path'?",
    ],
    [
      'the type that was sent',
      { properties: { n: { type: 'integer' } } },
      { n: 1.5 },
      "You sent a number with a fraction for field 'n'.",
    ],
    [
      'null as null',
      { properties: { n: { type: 'string' } } },
      { n: null },
      "You sent null for field 'n'.",
    ],
    [
      'an example of a format',
      { properties: { on: { format: 'date' } } },
      { on: 'tomorrow' },
      'For example: 2026-01-31',
    ],
  ])('are given: %s', (_, schema, value, hint) => {
    expect(hintsFor({ type: 'object', ...schema }, value)).toContain(hint)
  })

  it('are not part of the reason, which stays the same for the same mistake', () => {
    const schema = { properties: { unit: { enum: ['celsius', 'fahrenheit'] } } }
    expect(reasonFor(schema, { unit: 'Celcius' })).toBe(reasonFor(schema, { unit: 'Fahrenheid' }))
  })
})

describe('a schema that cannot be used', () => {
  it.each<[string, unknown, string]>([
    ['is not JSON', '{"type":', 'it is not JSON from position 8 on'],
    ['is empty', '', 'it is not JSON from position 0 on'],
    ['is no object', 'true', 'it is not a JSON object'],
    ['is a list', '[]', 'it is not a JSON object'],
    ['breaks the rules of schemas', { type: 'strin' }, 'it is not a valid JSON Schema'],
    [
      'has a keyword of the wrong kind',
      { properties: { a: { minimum: '1' } } },
      'it is not a valid JSON Schema',
    ],
    [
      'has an invalid pattern',
      { properties: { a: { pattern: '(' } } },
      'Invalid regular expression',
    ],
    ['refers to a missing part', { $ref: '#/$defs/none' }, "can't resolve reference #/$defs/none"],
    [
      'refers to another document',
      { properties: { a: { $ref: 'https://example.com/schema.json' } } },
      "can't resolve reference",
    ],
    ['refers to a dialect', { properties: { a: { $ref: draft07 } } }, "can't resolve reference"],
    ['is asynchronous', { $async: true }, '$async is not supported'],
    ['refers only to itself', { $ref: '#' }, 'it cannot be evaluated'],
    [
      'is too deep',
      `${'{"not":'.repeat(200)}{}${'}'.repeat(200)}`,
      `it is nested deeper than ${limits.schemaDepthMax} levels`,
    ],
    [
      'is too long',
      { description: 'x'.repeat(limits.schemaBytesMax) },
      `it has more than ${limits.schemaBytesMax} bytes`,
    ],
  ])('rejects the call and never lets it pass: it %s', (_, schema, why) => {
    const denial = rejectionOf(callOf('{"command":"ls"}'), [tool('exec', schema)])
    expect(denial).toMatchObject({
      code: 'unusable_schema',
      reason: "the schema of tool 'exec' cannot be used",
      requiredFields: [],
    })
    expect(denial?.text.split('\n')[0]).toContain(why)
    expect(denial?.text).toContain('not of your arguments')
  })

  it('denies a call without arguments too', () => {
    expect(rejectionOf(callOf('', { problem: 'no_arguments' }), [tool('exec', '{')])?.code).toBe(
      'unusable_schema',
    )
    expect(
      rejectionOf(callOf('', { problem: 'no_arguments' }), [tool('exec', { $ref: '#' })]),
    ).toBeDefined()
  })
})

describe('a schema that can be used', () => {
  it.each<[string, object]>([
    [
      'has unknown keywords',
      { 'x-order': 1, properties: { command: { type: 'string', widget: 'area' } } },
    ],
    ['has an unknown format', { properties: { command: { format: 'shell' } } }],
    [
      'has a pattern that is only valid without the flag u',
      { properties: { command: { pattern: '^[\\w-.]+$' } } },
    ],
    [
      'refers to its own parts by $id and $anchor',
      {
        $id: 'https://a.example/s',
        $defs: { c: { $anchor: 'c', type: 'string' } },
        properties: { command: { $ref: '#c' } },
      },
    ],
    ['is recursive', { properties: { command: { type: 'string' }, next: { $ref: '#' } } }],
    ['names no type', {}],
  ])('passes the arguments that it allows: it %s', (_, schema) => {
    expect(rejectionOf(callOf('{"command":"ls"}'), [tool('exec', schema)])).toBeUndefined()
  })

  it('has private ids: another tool with the same ids is judged by its own schema', () => {
    const withId = (type: string) => ({
      $id: 'https://a.example/same',
      $defs: { c: { $id: 'https://a.example/part', $anchor: 'c', type } },
      properties: { command: { $ref: 'https://a.example/part' } },
    })
    for (const _ of [1, 2]) {
      expect(
        rejectionOf(callOf('{"command":"ls"}'), [tool('exec', withId('string'))]),
      ).toBeUndefined()
      expect(rejectionOf(callOf('{"command":"ls"}'), [tool('exec', withId('number'))])?.code).toBe(
        'schema',
      )
    }
  })

  it('keeps patterns apart', () => {
    const schema = { properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } }
    expect(rejectionOf(callOf('{"a":"a","b":"b"}'), [tool('exec', schema)])).toBeUndefined()
    expect(rejectionOf(callOf('{"a":"b","b":"b"}'), [tool('exec', schema)])?.code).toBe('schema')
  })

  it("matches patterns in linear time, in JavaScript's syntax", () => {
    const endless = `${'a'.repeat(5_000)}!`
    expect(reasonFor({ properties: { a: { pattern: '^(a+)+$' } } }, { a: endless })).toContain(
      "field 'a' must match pattern",
    )
    for (const [pattern, text] of [
      ['^\\d{4}\\/\\d{2}$', '2026/01'],
      ['^(?<year>\\d{4})-', '2026-'],
      ['^\\u00e9$', 'é'],
      ['^[\\w.-]+@', 'a.b-c@'],
      ['\\p{Lu}', 'É'],
    ])
      expect(reasonFor({ properties: { a: { pattern } } }, { a: text })).toBeUndefined()
  })

  it.each([['^(?=.*x).*$'], ['(?<!a)b'], ['(a)\\1']])(
    'excludes a pattern that may take forever: %s',
    (pattern) => {
      expect(unusable({ properties: { a: { pattern } } })).toContain(
        'cannot be matched in linear time',
      )
    },
  )

  /**
   * A chain of definitions, each with two references to the next: 2, 4, 8 ... references if no
   * branch fits.
   */
  const doubling = (levels: number) => {
    const next = (level: number) => ({
      anyOf: [{ $ref: `#/$defs/d${level}` }, { $ref: `#/$defs/d${level}` }],
    })
    const chain = Array.from({ length: levels }, (_, n) => [
      `d${n + 1}`,
      n + 1 === levels ? { type: 'integer' } : next(n + 2),
    ])
    return { $defs: Object.fromEntries(chain), properties: { command: next(1) } }
  }
  const levelsAllowed = Math.floor(Math.log2(schemaStepsMax + 2)) - 1

  it('is judged up to a number of references', () => {
    expect(reasonFor(doubling(levelsAllowed), { command: 'ls' })).toBe(
      "field 'command' must match a schema in anyOf",
    )
    expect(reasonFor(doubling(levelsAllowed), { command: 1 })).toBeUndefined()
  })

  it.each<[string, object, string]>([
    ['a chain of choices', doubling(levelsAllowed + 1), '{"command":"ls"}'],
    ['a chain of choices far beyond', doubling(100), '{"command":"ls"}'],
    [
      'a choice that goes down with the arguments',
      {
        $schema: draft07,
        anyOf: ['b', 'c'].map((name) => ({
          allOf: [{ properties: { a: { $ref: '#' } } }, { required: [name] }],
        })),
      },
      `${'{"a":'.repeat(60)}{}${'}'.repeat(60)}`,
    ],
  ])('is not judged beyond that, and the call does not run: %s', (_, schema, raw) => {
    const denial = rejectionOf(callOf(raw), [tool('exec', schema)])
    expect(denial).toMatchObject({ code: 'unusable_schema' })
    expect(denial?.text).toContain(`takes more than ${schemaStepsMax} steps`)
  })

  it('knows whether a field may be null even if the schema refers to itself in very many ways', () => {
    const part = (level: number) => ({
      anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/d${level}` })),
    })
    const chain = Array.from({ length: 12 }, (_, n) => [
      `d${n}`,
      n === 11 ? { type: 'string' } : part(n + 1),
    ])
    const schema = {
      $defs: Object.fromEntries(chain),
      properties: { command: { type: 'string', ...part(0) } },
      required: ['command'],
    }
    expect(reasonFor(schema, { command: null })).toBe("missing required field 'command'")
  })

  it('does not match long texts against a pattern, not even a negated one', () => {
    const text = 'x'.repeat(limits.patternTextMax + 1)
    for (const command of [{ pattern: '^x+$' }, { not: { pattern: 'rm' } }])
      expect(
        rejectionOf(callOf(JSON.stringify({ command: text })), [
          tool('exec', { properties: { command } }),
        ]),
      ).toMatchObject({
        code: 'bad_arguments',
        reason: `a text of more than ${limits.patternTextMax} characters cannot be checked against its pattern`,
      })
    expect(
      rejectionOf(callOf(JSON.stringify({ command: text })), [
        tool('exec', { properties: { command: { maxLength: 99_999 } } }),
      ]),
    ).toBeUndefined()
  })

  it.each([
    ['a counted group', ['(.?){999}', '(.?){998}', '(.?){997}', '(.?){996}']],
    ['nested counts', ['((a?){30}){30}b{999}', '(?:[^)]{20}){50,400}']],
    ['a count of a count', ['(a{1000}){1000}']],
  ])(
    'is unusable if its patterns are large when repetitions are written out: %s',
    (_, patterns) => {
      const allOf = patterns.map((pattern) => ({ pattern }))
      expect(unusable({ properties: { command: { allOf } } })).toContain(
        'its patterns are too large',
      )
    },
  )

  it('counts equal patterns of many fields once, and a code point as one character', () => {
    const at = { type: 'string', pattern: String.raw`^\d{140}\u{10000}$` }
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, at]))
    const text = '1'.repeat(140)
    expect(reasonFor({ properties }, { f99: `${text}\u{10000}` })).toBeUndefined()
    expect(reasonFor({ properties }, { f99: text })).toContain("field 'f99' must match pattern")
  })

  it('keeps patterns with usual counts, and judges many short texts by them', () => {
    const item = { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' }
    const schema = tool('exec', { properties: { names: { type: 'array', items: item } } })
    const names = Array.from({ length: 20_000 }, (_, n) => `name-${n}`)
    expect(rejectionOf(callOf(JSON.stringify({ names })), [schema])).toBeUndefined()
  })

  it('judges no arguments that need very many tests of patterns', () => {
    const patternProperties = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`^x${n}$`, {}]),
    )
    const args = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, 1]))
    const denial = rejectionOf(callOf(JSON.stringify(args)), [tool('exec', { patternProperties })])
    expect(denial?.text).toContain(`takes more than ${schemaStepsMax} steps`)
  })

  it('finds equal items in a long list without comparing all pairs', () => {
    const items = Array.from({ length: 50_000 }, (_, i) => [i])
    const schema = tool('exec', { properties: { items: { uniqueItems: true } } })
    expect(rejectionOf(callOf(JSON.stringify({ items })), [schema])).toBeUndefined()
    expect(rejectionOf(callOf(JSON.stringify({ items: [...items, [0]] })), [schema])?.code).toBe(
      'schema',
    )
  })

  it('is recognized again after many others', () => {
    const schema = tool('exec', { type: 'object', required: ['command'] })
    const before = rejectionOf(callOf('{}'), [schema])
    for (let n = 0; n <= limits.compiledSchemasMax; n += 1)
      rejectionOf(callOf('{}'), [tool('exec', `{"description":"${n}","type":"strin"}`)])
    expect(rejectionOf(callOf('{}'), [schema])).toEqual(before)
  })
})

function reasonFor(schema: object, value: unknown): string | undefined {
  return rejectionOf(callOf(JSON.stringify(value)), [tool('exec', schema)])?.reason
}

function unusable(schema: object): string | undefined {
  const denial = rejectionOf(callOf('{}'), [tool('exec', schema)])
  return denial?.code === 'unusable_schema' ? denial.text : undefined
}
