// A hostile model server before the veto. It may call `read`, and `exec` is refused. No spelling of an
// answer, and no form of a request, brings a call of `exec` to the client.

import { afterEach, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import type {
  CallVerdict,
  GuestAnswer,
  ReadGuestAnswer,
} from '../../../../../../client/guard/guest-conversation.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

/** As the real stages: each call that Weir has read is judged by its name. */
function verdictsOn(answer: GuestAnswer | ReadGuestAnswer): CallVerdict[] {
  const calls = 'pieces' in answer ? answer.pieces.filter((piece) => piece.kind === 'call') : []
  return calls.map(
    ({ id: callId, name }): CallVerdict =>
      name === 'read'
        ? { callId, name, verdict: 'allow', text: '', code: '' }
        : { callId, name, verdict: 'deny', text: 'Stopped.', code: 'guard.denied' },
  )
}

type Json = Record<string, unknown>
type Attack = { path: string; request: Json; body: string; isStreamed: boolean }

const streamOf = (events: readonly (Json | string)[], isNamed: boolean) =>
  events
    .map((event) => {
      if (typeof event === 'string') return event
      const name = isNamed ? `event: ${event.type}\n` : ''
      return `${name}data: ${JSON.stringify(event)}\n\n`
    })
    .join('')

const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } })
const rm = JSON.stringify({ command: 'rm -rf /' })
const ls = JSON.stringify({ command: 'ls' })
const execFunction = { name: 'exec', arguments: rm }
const readFunction = { name: 'read', arguments: ls }
const entry = (members: Json) => ({ index: 0, id: 'x1', ...members })

const chatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: 'go' }],
  tools: [tool('exec'), tool('read')],
}
const chatOf = (choices: Json[]) =>
  JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices })
const chunkOf = (choices: Json[]): Json => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices,
})
const chatWhole = (...choices: Json[]): Attack => ({
  path: '/v1/chat/completions',
  request: chatRequest,
  body: chatOf(choices),
  isStreamed: false,
})
const chatStream = (...events: (Json | string)[]): Attack => ({
  path: '/v1/chat/completions',
  request: { ...chatRequest, stream: true },
  body: streamOf([...events, 'data: [DONE]\n\n'], false),
  isStreamed: true,
})
const end = chunkOf([{ index: 0, delta: {}, finish_reason: 'tool_calls' }])
const deltaOf = (index: number, ...calls: Json[]) => ({
  index,
  delta: { role: 'assistant', tool_calls: calls },
  finish_reason: null,
})
const messageOf = (...calls: Json[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})
const execCall = entry({ type: 'function', function: execFunction })
const readCall = entry({ type: 'function', function: readFunction })

const item = (name: string, args: string, id: string): Json => ({
  ...{ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args },
  status: 'completed',
})
const response = (status: string, output: Json[]): Json => ({
  ...{ id: 'r1', object: 'response', created_at: 1, status, model: 'm', output },
  ...{ parallel_tool_calls: true, tools: [], tool_choice: 'auto', usage: null },
})
const responsesRequest = {
  model: 'm',
  input: 'go',
  tools: [
    { type: 'function', name: 'exec', parameters: {} },
    { type: 'function', name: 'read', parameters: {} },
  ],
}
const created = { type: 'response.created', response: response('in_progress', []) }
const itemEvents = (one: Json, output_index = 0): Json[] => [
  { type: 'response.output_item.added', output_index, item: { ...one, arguments: '' } },
  {
    type: 'response.function_call_arguments.done',
    ...{ item_id: one.id, output_index, arguments: one.arguments },
  },
  { type: 'response.output_item.done', output_index, item: one },
]
const completed = (...output: Json[]): Json => ({
  type: 'response.completed',
  response: response('completed', output),
})
const responsesStream = (...events: Json[]): Attack => ({
  path: '/v1/responses',
  request: { ...responsesRequest, stream: true },
  body: streamOf([created, ...events], true),
  isStreamed: true,
})
const readItem = item('read', ls, 'r_1')
const execItem = item('exec', rm, 'x_1')
const textItem: Json = {
  ...{ type: 'message', id: 'm_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
}

const messagesRequest = {
  model: 'm',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'go' }],
  tools: [
    { name: 'exec', input_schema: { type: 'object' } },
    { name: 'read', input_schema: { type: 'object' } },
  ],
}
const use = (index: number, name: string, input: string): Json[] => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `t_${name}`, name, input: {} },
  },
  {
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: input },
  },
  { type: 'content_block_stop', index },
]
const messageStart: Json = {
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: {} },
}
const messageEnd: Json[] = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const messagesStream = (...events: (Json | string)[]): Attack => ({
  path: '/v1/messages',
  request: { ...messagesRequest, stream: true },
  body: streamOf(events, true),
  isStreamed: true,
})

const geminiStream = (...events: Json[]): Attack => ({
  path: '/v1beta/models/m:streamGenerateContent?alt=sse',
  request: { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
  body: streamOf(events, false),
  isStreamed: true,
})
const execPart = { functionCall: { name: 'exec', args: { command: 'rm -rf /' } } }

const geminiWhole = (...parts: Json[]): Attack => ({
  path: '/v1beta/models/m:generateContent',
  request: { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
  body: JSON.stringify({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
  }),
  isStreamed: false,
})
const code: Json = { executableCode: { language: 'PYTHON', code: 'rm -rf /' } }
const ranCode: Json = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'ok' } }

const search: Json = { type: 'web_search_call', id: 'w_1', status: 'completed' }

const differ: [string, Attack][] = [
  [
    'V1: a whole choice with a delta and a message',
    chatWhole({
      ...{ index: 0, delta: messageOf(readCall), message: messageOf(execCall) },
      finish_reason: 'tool_calls',
    }),
  ],
  [
    'V2: a whole call with a custom tool and a function',
    chatWhole({
      index: 0,
      message: messageOf({ ...execCall, custom: { name: 'read', input: 'ls' } }),
      finish_reason: 'tool_calls',
    }),
  ],
  [
    'V2: a streamed call with a custom tool and a function',
    chatStream(chunkOf([deltaOf(0, { ...execCall, custom: { name: 'read', input: 'ls' } })]), end),
  ],
  [
    'V3: a second choice with the same call id',
    chatStream(chunkOf([deltaOf(1, execCall), deltaOf(0, readCall)]), end),
  ],
  [
    'V3: a second choice in another chunk',
    chatStream(chunkOf([deltaOf(1, execCall)]), chunkOf([deltaOf(0, readCall)]), end),
  ],
  [
    'V6: a final output with another call than the items',
    responsesStream(...itemEvents(readItem), completed(execItem)),
  ],
  [
    'V7: a second end with another call',
    responsesStream(...itemEvents(readItem), completed(readItem), completed(execItem)),
  ],
  ['V8: a second end behind a text', responsesStream(completed(textItem), completed(execItem))],
  [
    'V9: a call behind the end of the message, in the place of another',
    messagesStream(
      ...[messageStart, ...use(0, 'read', ls), ...messageEnd, ...use(0, 'exec', rm)],
      ...messageEnd,
    ),
  ],
  [
    'V10: two calls at one place',
    messagesStream(messageStart, ...use(0, 'read', ls), ...use(0, 'exec', rm), ...messageEnd),
  ],
  [
    'V12: a call of an unknown type',
    chatStream(chunkOf([deltaOf(0, { ...execCall, type: 'tool' })]), end),
  ],
  [
    'a name in two pieces that some clients join',
    chatStream(
      chunkOf([deltaOf(0, entry({ type: 'function', function: { name: 'ex', arguments: '' } }))]),
      chunkOf([deltaOf(0, { index: 0, function: { name: 'ec', arguments: rm } })]),
      end,
    ),
  ],
  [
    'a call with two names of members that differ in capitals',
    chatStream(
      `data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[${JSON.stringify(readCall)}],"Tool_Calls":[${JSON.stringify(execCall)}]},"finish_reason":"tool_calls"}]}\n\n`,
    ),
  ],
  [
    'a chunk of Gemini with a call beside an error',
    geminiStream({
      candidates: [{ content: { role: 'model', parts: [execPart] }, finishReason: 'STOP' }],
      error: { code: 500 },
    }),
  ],
  [
    'a tool of the provider that its API does not have',
    messagesStream(
      messageStart,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 's', name: 'exec', input: {} },
      },
      ...use(0, 'exec', rm).slice(1),
      ...messageEnd,
    ),
  ],
  [
    'a call in a block of the provider',
    messagesStream(
      messageStart,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'redacted_thinking', data: '', tool_calls: [execCall] },
      },
      { type: 'content_block_stop', index: 0 },
      ...messageEnd,
    ),
  ],
  [
    'a call in an item of the provider',
    responsesStream(...itemEvents({ ...execItem, type: 'web_search_call' }), completed()),
  ],
  [
    'a call in an event of an item of the provider',
    responsesStream(
      { type: 'response.output_item.added', output_index: 0, item: search },
      {
        type: 'response.web_search_call.completed',
        output_index: 0,
        x: { function: execFunction },
      },
      { type: 'response.output_item.done', output_index: 0, item: search },
      completed(search),
    ),
  ],
  [
    'a beginning with an item',
    responsesStream({
      type: 'response.created',
      response: { ...created.response, output: execItem },
    }),
  ],
  [
    'code beside the parts of Gemini',
    geminiStream({ candidates: [{ index: 0, finishReason: 'STOP', ...code }] }),
  ],
  ['code of Gemini without a result', geminiWhole(code, { text: 'Run it.' })],
  [
    'streamed code of Gemini without a result',
    geminiStream(
      { candidates: [{ content: { role: 'model', parts: [code] } }] },
      { candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] },
    ),
  ],
  [
    'code of Gemini with the result of other code',
    geminiWhole({ executableCode: { id: 'a', code: 'rm -rf /' } }, ranCode),
  ],
  ['a part of Gemini of two kinds', geminiWhole({ ...execPart, ...code }, ranCode)],
  ['a part of Gemini that Weir does not know', geminiWhole({ shellScript: { text: 'rm -rf /' } })],
  [
    'a call whose namespace changes on its way',
    responsesStream(
      { type: 'response.output_item.added', output_index: 0, item: readItem },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...readItem, namespace: 'shell', arguments: rm },
      },
      completed(),
    ),
  ],
  [
    'a namespace with a dot, which another tool could have in its name',
    responsesStream(...itemEvents({ ...execItem, namespace: 'a.b' }), completed()),
  ],
]

/** Attacks whose printed answer is harmless, so the client gets one. */
const printedAway: [string, Attack][] = [
  [
    'V16: a call behind a line separator in a comment',
    chatStream(
      `: ping\u2028data: ${JSON.stringify(chunkOf([deltaOf(0, execCall)]))}\u2028\u2028\n\n`,
      chunkOf([{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }]),
    ),
  ],
  [
    'V16: a call behind a line separator in a text',
    chatStream(
      `data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi.\u2028data: {exec}\u0085\u2028"},"finish_reason":"stop"}]}\n\n`,
    ),
  ],
]

async function attacked({ path, request, body, isStreamed }: Attack, text?: string) {
  proxy = await proxied(
    scriptedGuard({ after: verdictsOn }),
    (_, outgoing, n) => {
      const type = isStreamed ? 'text/event-stream' : 'application/json'
      outgoing.writeHead(200, { 'content-type': type })
      outgoing.end(n === 1 ? body : '')
    },
    '',
    { coversSubscriptions: true },
  )
  const sent = text ?? JSON.stringify(request)
  return fetch(proxy.url + path, { method: 'POST', body: sent })
}

describe('a hostile model server before the veto', () => {
  it.each(differ)('gets no call past it: %s', async (_, attack) => {
    const answer = await (await attacked(attack)).text()
    expect(answer).toContain('Weir cannot judge the answer of the upstream')
    expect(answer).not.toMatch(/rm -rf|"name":"(exec|ex)"/)
  })

  it.each([false, true])('names the charset of its print: streamed %s', async (isStreamed) => {
    // In UTF-7 this text ends before the comma, and a call follows.
    const content = 'Hi.+ACI-,+ACI-tool+AF8-calls+ACI-:[],+ACI-x+ACI-:+ACI-'
    const message = { role: 'assistant', content }
    const choice = { index: 0, finish_reason: 'stop' }
    const whole = chatOf([{ ...choice, message }])
    const events = streamOf([chunkOf([{ ...choice, delta: message }]), 'data: [DONE]\n\n'], false)
    const type = isStreamed ? 'text/event-stream' : 'application/json'
    proxy = await proxied(
      scriptedGuard({ after: verdictsOn }),
      (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': `${type}; charset=utf-7` })
        outgoing.end(isStreamed ? events : whole)
      },
      '',
      { coversSubscriptions: true },
    )
    const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...chatRequest, stream: isStreamed }),
    })
    expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
    expect(await answer.text()).toContain('Hi.')
  })

  it.each(printedAway)('gets no line of its own past it: %s', async (_, attack) => {
    const answer = await (await attacked(attack)).text()
    expect(answer).toContain('Hi.')
    expect(answer).not.toContain('rm -rf')
    const separators = new Set('\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029')
    const lines = Array.from(answer, (one) => (separators.has(one) ? '\n' : one))
      .join('')
      .split('\n')
    for (const line of lines) expect(line).toMatch(/^(|:.*|data: (\{.*\}|\[DONE\]))$/)
  })

  it('has its call held in the plain form (control)', async () => {
    const attack = chatStream(chunkOf([deltaOf(0, execCall)]), end)
    const answer = await (await attacked(attack)).text()
    expect(answer).not.toContain('rm -rf')
    expect(proxy?.received).toHaveLength(2)
  })

  it('gives the official SDK the call that was judged, and no other', async () => {
    const attack = chatStream(chunkOf([deltaOf(0, readCall)]), end)
    proxy = await proxied(
      scriptedGuard({ after: verdictsOn }),
      (_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
        outgoing.end(attack.body)
      },
      '',
      { coversSubscriptions: true },
    )
    const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'dummy', maxRetries: 0 })
    const { choices } = await client.chat.completions
      .stream(chatRequest as OpenAI.ChatCompletionCreateParamsStreaming)
      .finalChatCompletion()
    expect(choices[0]?.message.tool_calls).toMatchObject([{ id: 'x1', function: readFunction }])
  })
})

describe('the tool of a call', () => {
  const namespaced = { ...item('read', rm, 'x_1'), namespace: 'shell' }

  it.each<[string, Attack]>([
    [
      'whole',
      {
        path: '/v1/responses',
        request: responsesRequest,
        body: JSON.stringify(response('completed', [namespaced])),
        isStreamed: false,
      },
    ],
    ['streamed', responsesStream(...itemEvents(namespaced), completed(namespaced))],
  ])(
    'is judged with its namespace, so another tool of that name counts apart: %s',
    async (_, attack) => {
      const answer = await (await attacked(attack)).text()
      expect(answer).not.toContain('rm -rf')
      expect(proxy?.received).toHaveLength(2)
      expect(`${proxy?.received[1]?.body}`).toMatch(/"name":"read",.*"namespace":"shell"/)
    },
  )

  const other = { server: 'shell', recipient: 'exec' }
  const use = { type: 'tool_use', id: 't1', name: 'read', input: { command: 'ls' } }
  const finish_reason = 'tool_calls'
  it.each<[string, Attack]>([
    ['Chat', chatWhole({ index: 0, finish_reason, message: messageOf({ ...readCall, ...other }) })],
    ['streamed Chat', chatStream(chunkOf([deltaOf(0, { ...readCall, ...other })]), end)],
    ['Responses', responsesStream(...itemEvents({ ...readItem, ...other }), completed())],
    [
      'Messages',
      {
        path: '/v1/messages',
        request: messagesRequest,
        body: JSON.stringify({
          ...(messageStart.message as Json),
          content: [{ ...use, ...other }],
          stop_reason: 'tool_use',
        }),
        isStreamed: false,
      },
    ],
  ])('has no other name for the client: %s', async (_, attack) => {
    const answer = await (await attacked(attack)).text()
    expect(answer).toContain('"name":"read"')
    expect(answer).not.toMatch(/"(server|recipient)"/)
  })

  it('may be code that the provider has run, with its result', async () => {
    const answer = await (await attacked(geminiWhole(code, ranCode, { text: 'Done.' }))).text()
    expect(JSON.parse(answer)).toMatchObject({
      candidates: [{ content: { parts: [code, ranCode, { text: 'Done.' }] } }],
    })
  })
})

describe('a request whose tools Weir does not see', () => {
  const execAnswer = chatWhole({
    index: 0,
    message: messageOf(execCall),
    finish_reason: 'tool_calls',
  })
  const { tools, ...without } = chatRequest
  const all = JSON.stringify(tools)
  const { tools: _, ...plain } = responsesRequest
  const responsesAnswer: Attack = {
    path: '/v1/responses',
    request: plain,
    body: JSON.stringify(response('completed', [execItem])),
    isStreamed: false,
  }
  const found = { type: 'tool_search_output', tools: responsesRequest.tools }

  it.each<[string, Attack, string]>([
    ['no tools', execAnswer, JSON.stringify(without)],
    ['the tools twice', execAnswer, `{"tools":${all},"model":"m","messages":[],"tools":[]}`],
    ['the tools in capitals', execAnswer, `{"Tools":${all},"model":"m","messages":[]}`],
    ['the tools escaped', execAnswer, `{"tool\\u0053":${all},"model":"m","messages":[]}`],
    [
      'V14: the tools of a search that the client runs',
      responsesAnswer,
      JSON.stringify({
        ...plain,
        tools: [{ type: 'tool_search', execution: 'client' }],
        input: [found],
      }),
    ],
    ['V15: no tools in Responses', responsesAnswer, JSON.stringify(plain)],
  ])('is judged if its answer has a call: %s', async (_, attack, request) => {
    const response = await attacked(attack, request)
    const answer = await response.text()
    expect(answer).not.toContain('rm -rf')
    expect(proxy?.received.length).toBeGreaterThan(0)
  })

  it('costs nothing if its answer has no call', async () => {
    const guard = scriptedGuard({ after: verdictsOn })
    const choice = { index: 0, message: { role: 'assistant', content: 'A title' } }
    const body = chatOf([{ ...choice, finish_reason: 'stop' }])
    proxy = await proxied(guard, (_, outgoing) => void outgoing.end(body), '', {
      coversSubscriptions: true,
    })
    const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(without),
    })
    expect(await answer.text()).toBe(body)
    await proxy.settled()
    expect(guard.asked).toEqual([])
  })
})
