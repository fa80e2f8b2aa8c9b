import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { normalize } from '../../../../apps/transcripts/normalize/normalize.ts'
import type { Normalized } from '../../../../apps/transcripts/normalize/normalized.ts'
import { output } from '../../../support/output.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-normalize-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

async function run(files: string[], options: { provider: string; tools?: string; json?: boolean }) {
  const { stream, text } = output()
  const exitCode = await normalize(files, options, stream)
  return { exitCode, text: text() }
}

/** The result for one file. */
async function said(
  content: string | Buffer,
  provider: string,
  tools?: unknown,
): Promise<Normalized> {
  const file = fileOf('stream', content)
  const options = {
    provider,
    json: true,
    ...(tools === undefined ? {} : { tools: fileOf('tools.json', JSON.stringify(tools)) }),
  }
  return JSON.parse((await run([file], options)).text) as Normalized
}

const chunks = (...payloads: unknown[]) => payloads.map((payload) => JSON.stringify(payload))
const piece = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const call = (text: string, fields: object = {}) =>
  piece({
    tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: text }, ...fields }],
  })
const events = (lines: string[]) => lines.map((line) => `data: ${line}\n\n`).join('')
const message = (n: number, input: object) =>
  chunks(
    { type: 'message_start', message: { id: `m${n}`, content: [] } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: `t${n}`, name: 'read', input },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  )

describe('a call', () => {
  it('shows its arguments with all sent digits', async () => {
    const content = chunks(
      call('{"id":90071992547409931,"ratio":1.0}'),
      piece({}, 'tool_calls'),
    ).join('\n')
    const { text } = await run([fileOf('stream', content)], { provider: 'openai-chat', json: true })
    expect(text).toContain('"arguments":{"id":90071992547409931,"ratio":1.0}')
  })
})

describe('a recorded stream', () => {
  const whole = chunks(
    piece({ reasoning: 'hm' }),
    piece({ content: 'a' }),
    call('{"path":"x"}'),
    piece({}, 'tool_calls'),
  )
  const expected = {
    file: expect.stringContaining('stream'),
    text: 'a',
    reasoning: 'hm',
    calls: [
      {
        ordinal: 0,
        id: 'c1',
        name: 'read',
        arguments: { path: 'x' },
        runnable: true,
        reason: null,
        source: 'deltas',
        rawArguments: '{"path":"x"}',
        repaired: false,
      },
    ],
    stop: { provider: 'tool_calls', unified: 'calls' },
    error: null,
  }

  it.each([
    ['server-sent events', `${events(whole)}data: [DONE]\n\n`],
    [
      'with a comment first, and line ends of another system',
      `: hi\n\n${events(whole)}`.replaceAll('\n', '\r\n'),
    ],
    ['without a last blank line', events(whole).trimEnd()],
    ['JSON lines', `# recorded\n${whole.join('\n')}\n\n[DONE]\n`],
    ['JSON lines in envelopes', whole.map((line) => `{"event":"x","data":${line}}`).join('\n')],
    ['with a mark at its beginning', `\uFEFF${whole.join('\n')}`],
  ])('is recognised by its content: %s', async (_, content) => {
    expect(await said(content, 'openai-chat')).toEqual(expected)
  })

  it('can be one body of a server that does not stream', async () => {
    const body = {
      object: 'chat.completion',
      choices: [
        {
          message: {
            content: 'a',
            tool_calls: [{ id: 'c1', function: { name: 'read', arguments: '{}' } }],
          },
          finish_reason: 'stop',
        },
      ],
    }
    expect(await said(JSON.stringify(body, null, 2), 'openai-chat')).toMatchObject({
      text: 'a',
      calls: [{ runnable: true }],
      error: null,
    })
  })

  it.each([0, 1])('can be one message of Anthropic with an indent of %i', async (indent) => {
    const use = { type: 'tool_use', id: 't1', name: 'read', input: { path: 'x' } }
    const body = {
      id: 'm1',
      type: 'message',
      content: [{ type: 'text', text: 'a' }, use],
      stop_reason: 'tool_use',
    }
    expect(await said(JSON.stringify(body, null, indent), 'anthropic')).toMatchObject({
      text: 'a',
      calls: [{ id: 't1', arguments: { path: 'x' }, runnable: true, source: 'message_start' }],
      stop: { provider: 'tool_use', unified: 'calls' },
      error: null,
    })
  })

  it.each(['anthropic', 'openai-chat', 'openai-responses'])(
    'can be the body of an error: %s',
    async (provider) => {
      const body = {
        ...(provider === 'anthropic' && { type: 'error' }),
        error: { type: 'overloaded_error', message: 'it is busy' },
      }
      expect((await said(JSON.stringify(body, null, 2), provider)).error).toMatchObject({
        code: 'provider.stream',
        message: expect.stringContaining('it is busy'),
      })
    },
  )

  it('ends at response.done', async () => {
    const item = (id: string) => ({
      type: 'function_call',
      id,
      call_id: id,
      name: 'read',
      arguments: '{}',
      status: 'completed',
    })
    const response = (id: string) => [
      { type: 'response.created', response: { id } },
      { type: 'response.done', response: { id, status: 'completed', output: [item(id)] } },
    ]
    const lines = chunks(...response('r1'), ...response('r2'))
    for (const content of [lines.join('\n'), events(lines)]) {
      expect((await said(content, 'openai-responses')).calls).toMatchObject([
        { id: 'r1' },
        { id: 'r2' },
      ])
    }
  })

  it.each([
    [
      'events',
      (lines: string[]) =>
        lines.map((line) => `event: ${JSON.parse(line).type}\ndata: ${line}\n\n`).join(''),
    ],
    ['lines', (lines: string[]) => lines.join('\n')],
  ])('can contain several responses, as %s, with their calls in order', async (_, written) => {
    const both = written([...message(1, { path: 'x' }), ...message(2, { path: 'y' })])
    expect((await said(both, 'anthropic')).calls).toMatchObject([
      { ordinal: 0, id: 't1', arguments: { path: 'x' }, source: 'start' },
      { ordinal: 1, id: 't2', arguments: { path: 'y' }, source: 'start' },
    ])
  })

  it('is read as the Responses API if it was recorded there', async () => {
    const item = {
      type: 'function_call',
      id: 'f1',
      call_id: 'c1',
      name: 'read',
      arguments: '{"path":"x"}',
      status: 'completed',
    }
    const lines = chunks(
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { output: [item] } },
    )
    expect(await said(lines.join('\n'), 'openai-responses')).toMatchObject({
      calls: [{ id: 'c1', source: 'done', arguments: { path: 'x' } }],
      stop: { provider: 'completed', unified: 'calls' },
    })
  })
})

describe('a call', () => {
  const ending = piece({}, 'tool_calls')
  const only = async (payloads: object[], tools?: unknown) =>
    (await said(chunks(...payloads).join('\n'), 'openai-chat', tools)).calls
  const tools = [
    {
      name: 'read',
      schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ]

  it.each([
    ['truncated', [call('{"path":"rm -rf build'), piece({}, 'length')]],
    ['truncated', [call('{"path":"x"}')]],
    ['stream_error', [call('{"path":"x"}'), { error: { message: 'no' } }]],
    ['no_arguments', [call(''), ending]],
    ['invalid_json', [call('{"path":"x"}</call>'), ending]],
    ['not_an_object', [call('["x"]'), ending]],
    ['schema', [call('{"path":1}'), ending]],
    ['bad_arguments', [call('{"path":"x","path":"y"}'), ending]],
    ['unknown_tool', [call('{}', { function: { name: 'other', arguments: '{}' } }), ending]],
  ])('that must not run has the reason: %s', async (reason, payloads) => {
    expect(await only(payloads, tools)).toMatchObject([
      { runnable: false, arguments: null, reason },
    ])
  })

  it('without an id gets one', async () => {
    expect(await only([call('{}', { id: null }), ending])).toMatchObject([
      { id: 'call_0', runnable: true },
    ])
  })

  it('without arguments runs as {} if its tool needs none, and shows that none were sent', async () => {
    expect(await only([call(''), ending])).toMatchObject([
      { arguments: {}, runnable: true, source: 'none', rawArguments: '' },
    ])
  })

  it('in the text is found if its tool was offered', async () => {
    const written = [
      piece({ content: '<tool_call>\n{"name":"read","arguments":{"path":"x"}}\n</tool_call>' }),
      piece({}, 'stop'),
    ]
    expect(await only(written, tools)).toMatchObject([
      { name: 'read', arguments: { path: 'x' }, runnable: true, source: 'text' },
    ])
    expect(await only(written)).toEqual([])
    const whole = chunks(...written).join('\n')
    expect((await said(whole, 'openai-chat', tools)).text).toBe('')
    expect((await said(whole, 'openai-chat')).text).toContain('<tool_call>')
  })

  it('in the text that had to be repaired is marked', async () => {
    const written = (text: string) => [piece({ content: text }), piece({}, 'stop')]
    expect(
      await only(written("{'name': 'read', 'arguments': {'path': 'x'}}"), tools),
    ).toMatchObject([{ source: 'text', repaired: true }])
    expect(
      await only(written('{"name": "read", "arguments": {"path": "x"}}'), tools),
    ).toMatchObject([{ source: 'text', repaired: false }])
  })

  it('that was repaired shows the sent text', async () => {
    expect(await only([call("{'path':'x',}"), ending], tools)).toMatchObject([
      { arguments: { path: 'x' }, runnable: true, rawArguments: "{'path':'x',}", repaired: true },
    ])
  })
})

describe('an unreadable file', () => {
  it.each([
    ['an empty file', ' \n', 'the file is empty'],
    ['a page', '<html>\n', "its first line is '<html>'"],
    ['a compressed file', gzipSync('data: {}\n\n'), 'it is compressed with gzip: unpack it first'],
    ['JSON that is no event', 'null\n', "its first line is 'null'"],
    [
      'bytes',
      Buffer.from([0, 255, 254, 1]),
      'it is neither a stream of server-sent events nor JSON lines',
    ],
  ])('is an error: %s', async (_, content, words) => {
    const file = fileOf('bad', content)
    const { exitCode, text } = await run([file], { provider: 'anthropic', json: true })
    expect(JSON.parse(text)).toMatchObject({
      file,
      calls: [],
      error: { code: 'recording.invalid', message: expect.stringContaining(words) },
    })
    expect(exitCode).toBe(1)
  })

  const responses = chunks(
    { type: 'response.created', response: { error: null } },
    { type: 'response.completed', response: { output: [] } },
  )
  it.each<[string, string, string]>([
    ['anthropic', 'openai-chat', chunks(call('{}'), piece({}, 'tool_calls')).join('\n')],
    ['openai-responses', 'openai-chat', `${events(chunks(call('{}')))}data: [DONE]\n\n`],
    ['openai-chat', 'anthropic', events(message(1, {}))],
    ['openai-responses', 'anthropic', '{"type":"message","content":[],"stop_reason":"end_turn"}'],
    ['anthropic', 'openai-responses', responses.join('\n')],
    ['openai-chat', 'openai-responses', responses.join('\n')],
  ])(
    'can be from another provider: read as %s, written by %s',
    async (provider, other, content) => {
      const { exitCode, text } = await run([fileOf('foreign', content)], { provider, json: true })
      const message = `it has no event of ${provider}; its events are from ${other}: try --provider ${other}`
      expect(JSON.parse(text)).toMatchObject({
        calls: [],
        error: { code: 'recording.invalid', message },
      })
      expect(exitCode).toBe(1)
      expect((await said(content, other)).error).toBeNull()
    },
  )

  it('can be from no provider at all', async () => {
    expect((await said('data: {"a":1}\n\n', 'anthropic')).error).toEqual({
      code: 'recording.invalid',
      message: 'it has no event of anthropic',
      class: null,
    })
  })

  it.each([': keep-alive\n\n', 'data: [DONE]\n\n', 'event: ping\ndata: {}\n\n'])(
    'is not a stream that was cut before its first content: %j',
    async (content) => {
      expect(await said(content, 'anthropic')).toMatchObject({
        stop: { provider: null, unified: 'cut' },
        error: null,
      })
    },
  )

  it('does not stop the reading of other files', async () => {
    const good = fileOf('good', chunks(piece({ content: 'a' }, 'stop')).join('\n'))
    const { exitCode, text } = await run([join(folder, 'missing'), good], {
      provider: 'openai-chat',
      json: true,
    })
    const [missing, read] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Normalized)
    expect(missing?.error?.message).toBe('the file cannot be read (ENOENT)')
    expect([read?.text, read?.error, exitCode]).toEqual(['a', null, 1])
  })

  it.each([
    ['{}', 'a JSON array of {name, schema}'],
    ['[{"name":"read"}]', 'element 0'],
    ['[', 'a JSON array'],
    [
      '[{"name":"a","schema":{}},{"name":"b","schema":{}},{"name":"a","schema":{}}]',
      "element 2 has the name of an earlier one, 'a'",
    ],
  ])('of tools is bad usage: %s', async (content, words) => {
    const tools = fileOf('tools.json', content)
    await expect(run([], { provider: 'anthropic', tools })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(words),
    })
  })

  const endless = 'and then again, '.repeat(800)
  it.each([
    ['text', [piece({ content: endless }), call('{"path":"x"}')]],
    ['thinking', [piece({ reasoning_content: endless }), call('{"path":"x"}')]],
    [
      'text in pieces',
      [...endless.split(' ').map((word) => piece({ content: `${word} ` })), call('{"path":"x"}')],
    ],
  ])('of a response without end is that of the live attempt: %s', async (_, payloads) => {
    const answer = await said(
      chunks(...payloads, piece({}, 'tool_calls')).join('\n'),
      'openai-chat',
    )
    expect(answer).toMatchObject({
      calls: [],
      stop: { unified: 'cut' },
      error: {
        code: 'provider.stream',
        class: 'degenerate',
        message: expect.stringContaining('repeated the same text'),
      },
    })
  })

  it('of a response without end lets no call before it run', async () => {
    const rows = Array.from({ length: 10_000 }, (_, n) => piece({ content: `row ${n}, ` }))
    const answer = await said(
      chunks(call('{"path":"x"}'), ...rows, piece({ content: endless }), piece({}, 'stop')).join(
        '\n',
      ),
      'openai-chat',
    )
    expect(answer.error?.class).toBe('degenerate')
    expect(answer.calls).toMatchObject([{ name: 'read', runnable: false, reason: 'truncated' }])
  })

  it('is null for a long text, a fence with equal lines, and a short repetition', async () => {
    for (const text of [
      'and then again, '.repeat(100),
      `\`\`\`\n${'0 0 0 0\n'.repeat(2000)}\`\`\`\n`,
      Array.from({ length: 2000 }, (_, n) => `row ${n}`).join(', '),
    ]) {
      const answer = await said(
        chunks(piece({ content: text }), call('{"path":"x"}'), piece({}, 'tool_calls')).join('\n'),
        'openai-chat',
      )
      expect(answer).toMatchObject({ error: null, calls: [{ runnable: true }] })
    }
  })

  it('in a response is an error of the response, and the command succeeds', async () => {
    const file = fileOf(
      'broken',
      chunks(piece({ content: 'a' }), { error: { message: 'overloaded' } }).join('\n'),
    )
    const { exitCode, text } = await run([file], { provider: 'openai-chat', json: true })
    expect(JSON.parse(text)).toMatchObject({
      text: 'a',
      error: { code: 'provider.stream', message: expect.stringContaining('overloaded') },
    })
    expect(exitCode).toBe(0)
  })
})

it('has the same fields for a refusal, and shows its text to people', async () => {
  const file = fileOf(
    'refusal',
    chunks(piece({ refusal: 'I will not.' }), piece({}, 'stop')).join('\n'),
  )
  const { text } = await run([file], { provider: 'openai-chat', json: true })
  expect(JSON.parse(text)).toEqual({
    file,
    text: '',
    reasoning: '',
    calls: [],
    stop: { provider: 'stop', unified: 'refusal' },
    error: null,
  })
  expect((await run([file], { provider: 'openai-chat' })).text).toContain('  refuses   I will not.')
})

it('shows people a text that looks like a call and cannot run', async () => {
  const file = fileOf(
    'text-call',
    chunks(piece({ content: '{"name":"read","arguments":{"path":"x' }), piece({}, 'length')).join(
      '\n',
    ),
  )
  const tools = fileOf('tools.json', JSON.stringify([{ name: 'read', schema: {} }]))
  const { text } = await run([file], { provider: 'openai-chat', tools })
  expect(text).toContain('is built like a call and must not run: it was cut by the output limit')
})

it('shows people the parts, the calls and the end of the response', async () => {
  const file = fileOf(
    'shown',
    chunks(
      piece({ content: 'I look.' }),
      call('{"path":'),
      call("'x'}", { id: null, function: { arguments: "'x'}" } }),
      piece({}, 'tool_calls'),
    ).join('\n'),
  )
  const { text } = await run([file], { provider: 'openai-chat' })
  expect(text).toBe(`${file}
  text              0 I look.
  call_piece        0 read c1 {"path":'x'}
  call 0    read {"path":'x'}
    may run
    arguments arrived; they were repaired (single-quotes)
    runs as   {"path":"x"}
  stopped   calls, the provider says tool_calls

`)
})
