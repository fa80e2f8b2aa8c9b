import { describe, expect, it } from '@jest/globals'
import { calls, recovered, why } from './offered.ts'

const write = { path: 'hello.py', content: 'print(1)' }
const written = [['file_write', write]]
const text = JSON.stringify

describe('the shapes of incident I2, in their priority', () => {
  it.each([
    ['a name with its arguments', text({ name: 'file_write', arguments: write })],
    ['arguments as the text of an object', text({ name: 'file_write', arguments: text(write) })],
    ['the same inside function', text({ function: { name: 'file_write', arguments: write } })],
    [
      'a call of the Chat Completions API',
      text({
        id: 'c1',
        type: 'function',
        function: { name: 'file_write', arguments: text(write) },
      }),
    ],
    [
      'a message of that API',
      text({
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'file_write', arguments: text(write) } },
        ],
      }),
    ],
    ['an array of one', text([{ name: 'file_write', arguments: write }])],
    ['one fenced block', `\`\`\`json\n${text({ name: 'file_write', arguments: write })}\n\`\`\``],
    [
      'a fence without a language',
      `\`\`\`\n${text([{ name: 'file_write', arguments: write }])}\n\`\`\``,
    ],
    ['the flat form', text({ tool: 'file_write', ...write })],
    ['the flat form in an array, as in the incident', text([{ tool: 'file_write', ...write }])],
    ['a tool with its arguments beside it', text({ tool: 'file_write', arguments: write })],
    ['a name and a tool: the name wins', text({ tool: 'search', name: 'file_write', ...write })],
    ['blanks around it', `\n\n  ${text({ name: 'file_write', arguments: write })}  \n`],
  ])('include %s', (_, visible) => expect(calls(visible)).toEqual(written))

  it('give several calls of one text in their order, also without an array around them', () => {
    const both = [
      ['search', { query: 'a' }],
      ['now', {}],
    ]
    const objects = [
      { name: 'search', arguments: { query: 'a' } },
      { name: 'now', arguments: {} },
    ]
    expect(calls(text(objects))).toEqual(both)
    expect(calls(objects.map((one) => text(one)).join('\n'))).toEqual(both)
  })

  it('never turn reserved names into arguments', () => {
    const flat = {
      tool: 'anything',
      id: 'c1',
      tool_call_id: 'c2',
      type: 'function',
      function: 'f',
      city: 'Oslo',
    }
    expect(calls(text(flat))).toEqual([['anything', { city: 'Oslo' }]])
  })

  it('do not run a tool without its argument that has a reserved name', () => {
    const tools = [
      {
        name: 'make',
        schema:
          '{"type":"object","properties":{"path":{"type":"string"},"type":{"type":"string"}}}',
      },
    ]
    expect(recovered(text({ tool: 'make', path: 'a', type: 'folder' }), tools)).toMatchObject({
      kind: 'lookalike',
    })
    expect(calls(text({ tool: 'make', path: 'a' }), tools)).toEqual([['make', { path: 'a' }]])
  })

  it('keep a written id, and leave a missing one empty', () => {
    const ids = (visible: string) => {
      const recovery = recovered(visible)
      return recovery?.kind === 'calls' ? recovery.calls.map(({ id }) => id) : undefined
    }
    expect(ids(text({ id: 'c1', name: 'now', arguments: {} }))).toEqual(['c1'])
    expect(ids(text({ tool_call_id: 'c2', tool: 'now' }))).toEqual(['c2'])
    expect(ids(text({ id: 'c3', function: { name: 'now', arguments: {} } }))).toEqual(['c3'])
    expect(ids(text({ name: 'now', arguments: {} }))).toEqual([''])
  })

  it('keep the argument text as written, with its blanks, digits and escapes', () => {
    const raw = '{ "query" : "\\u0061" , "limit":12345678901234567890 }'
    expect(recovered(`{"name":"search","arguments":${raw}}`)).toMatchObject({
      calls: [{ raw }],
      repairs: [],
    })
    expect(recovered('{"tool":"search","query":"a","limit":10000000000000000001}')).toMatchObject({
      calls: [{ raw: '{"query":"a","limit":10000000000000000001}' }],
    })
  })
})

describe('repairs', () => {
  const query = (written: string) =>
    recovered(`{"name": "search", "arguments": {"query": ${written}}}`)

  it.each([
    [
      'a comma before a bracket',
      `{"name": "search", "arguments": {"query": "a",},}`,
      ['trailing-comma'],
    ],
    ['single-quotes', `{'name': 'search', 'arguments': {'query': 'a'}}`, ['single-quotes']],
    [
      'the words of Python',
      `{"name": "search", "arguments": {"query": "a", "exact": True, "note": None}}`,
      ['python-word'],
    ],
    [
      'a raw line end in a string',
      `{"name": "search", "arguments": {"query": "a\nb"}}`,
      ['control-character'],
    ],
    ['an escaped quote', `{"name": "search", "arguments": {"query": "it\\'s"}}`, ['escaped-quote']],
  ])('fix %s and are named', (_, visible, repairs) =>
    expect(recovered(visible)).toMatchObject({ kind: 'calls', repairs }),
  )

  it('are refused for an ambiguous escape, by the same rule as for arguments', () => {
    expect(why('{"name": "search", "arguments": {"query": "C:\\dir\\new"}}')).toBe(
      'it is not valid JSON',
    )
    for (const wrong of ['\\x41', '\\0', '\\a', '\\u{41}', '\\d', '\\u12', '\\\n'])
      expect(query(`"a${wrong}"`)).toMatchObject({ why: 'it is not valid JSON' })
    expect(query('"C:\\\\dir\\\\new"')).toMatchObject({ kind: 'calls', repairs: [] })
  })

  it('change no value', () => {
    expect(query(`'it\\'s "so"'`)).toMatchObject({ calls: [{ raw: `{"query": "it's \\"so\\""}` }] })
    expect(query('"a\tb"')).toMatchObject({ calls: [{ raw: '{"query": "a\\tb"}' }] })
  })

  it.each([
    ['a string', '{"name": "search", "arguments": {"query": "rm -rf build}}'],
    ['an object', '{"name": "search", "arguments": {"query": "a"}'],
    ['an array', '[{"name": "search", "arguments": {"query": "a"}}'],
    ['a number', '{"name": "search", "arguments": {"query": "a", "limit": 1.}}'],
  ])('never close %s that is open, and the model learns why', (_, visible) =>
    expect(why(visible)).toBe('it is not valid JSON'),
  )
})

describe('all or nothing', () => {
  it.each([
    [
      'a missing field',
      { name: 'file_write', arguments: { path: 'a' } },
      "'file_write' cannot be called like that: missing required field 'content'",
    ],
    [
      'a field of another type',
      { name: 'search', arguments: { query: 5 } },
      "'search' cannot be called like that: field 'query' must be string",
    ],
    [
      'a field that the tool does not have',
      { name: 'search', arguments: { query: 'a', unit: 'c' } },
      "'search' cannot be called like that: unknown field 'unit'",
    ],
    [
      'null where it is required',
      { name: 'search', arguments: { query: null } },
      "'search' cannot be called like that: missing required field 'query'",
    ],
    [
      'arguments that are no object',
      { name: 'search', arguments: ['a'] },
      "its 'arguments' are no JSON object",
    ],
    ['no arguments at all', { name: 'search' }, 'it has no arguments'],
    [
      'a member that no call has',
      { name: 'search', arguments: { query: 'a' }, version: '1' },
      "'version' has no place in a call",
    ],
    [
      'one call of two that cannot run',
      [
        { name: 'now', arguments: {} },
        { name: 'gone', arguments: {} },
      ],
      "there is no tool 'gone'",
    ],
    [
      'one entry that is no call',
      [{ name: 'now', arguments: {} }, { price: 3 }],
      'one of the entries is no call',
    ],
    [
      'flat arguments beside nested ones',
      { tool: 'search', arguments: { query: 'a' }, limit: 3 },
      "'limit' has no place in a call",
    ],
  ])('with %s nothing runs, and the model learns the reason', (_, value, reason) =>
    expect(why(text(value))).toBe(reason),
  )

  it('refuses a field that is given twice', () => {
    expect(why('{"name":"search","arguments":{"query":"a","query":"b"}}')).toBe(
      "'search' cannot be called like that: field 'query' is given twice",
    )
    expect(why('{"name":"now","name":"search","arguments":{}}')).toBe(
      'one of its fields is given twice',
    )
    expect(why('{"function":{"name":"search","name":"now","arguments":{}}}')).toBe(
      'one of its fields is given twice',
    )
  })
})

describe('texts that only look like calls', () => {
  it.each([
    ['a tool that was not offered', text({ name: 'get_weather', arguments: { city: 'Oslo' } })],
    ['data with a tool in it', text({ tool: 'hammer', price: 3 })],
    ['a package.json', text({ name: 'search', version: '1.0.0', dependencies: {} })],
    [
      'the declaration of a tool',
      text({
        name: 'search',
        description: 'Searches.',
        parameters: { type: 'object', properties: {} },
      }),
    ],
    [
      'its bare declaration',
      text({ name: 'anything', parameters: { type: 'object', properties: {} } }),
    ],
    [
      'a declaration of the Chat Completions API',
      text({ type: 'function', function: { name: 'search', description: 'd', parameters: {} } }),
    ],
    ['a blank name', text({ name: ' ', arguments: {} })],
    ['an empty name', text({ tool: '', path: 'a' })],
    ['a list of names', text(['search', 'now'])],
    ['an empty array', '[]'],
    ['prose before it', `I will call it:\n${text({ name: 'now', arguments: {} })}`],
    ['prose after it', `${text({ name: 'now', arguments: {} })}\nDone.`],
    [
      'prose around a fence',
      `Like this:\n\`\`\`json\n${text({ name: 'now', arguments: {} })}\n\`\`\`\nand so on`,
    ],
    [
      'two fences',
      `\`\`\`json\n${text({ name: 'now', arguments: {} })}\n\`\`\`\n\`\`\`json\n${text({ name: 'now', arguments: {} })}\n\`\`\``,
    ],
    [
      'a fence of a programming language',
      `\`\`\`python\n${text({ name: 'now', arguments: {} })}\n\`\`\``,
    ],
    ['a quote', `> ${text({ name: 'now', arguments: {} })}`],
    [
      'a refusal that quotes one',
      `I will not run {"name":"file_write","arguments":{"path":"/etc/passwd","content":""}}.`,
    ],
    ['a call in a string', text(text({ name: 'now', arguments: {} }))],
    ['a call inside data', text({ example: { name: 'now', arguments: {} } })],
    ['nothing', ' \n '],
  ])('stay text: %s', (_, visible) => expect(recovered(visible)).toBeUndefined())

  it('stay text if no tool was offered', () => {
    expect(recovered(text({ name: 'now', arguments: {} }), [])).toBeUndefined()
  })

  it('stay text above the cap on bytes', () => {
    expect(
      recovered(text({ name: 'anything', arguments: { a: 'x'.repeat(3 * 1024 * 1024) } })),
    ).toBeUndefined()
  })
})
