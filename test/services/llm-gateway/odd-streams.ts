// Streams of servers that break their protocol, each in one way, and the calls that may run. All
// called tools were offered: `read` and `read_file` need a path, `now` needs nothing.

import { type Api, chunk, sse } from '../../support/provider-streams.ts'

type Json = Record<string, unknown>

/** A call that may run is `name {arguments}`, and one that must not is `name reason`. */
export type OddStream = { api: Api; name: string; body: string; calls: string[] }

const pathSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
export const oddTools = [
  { name: 'read', schema: pathSchema },
  { name: 'read_file', schema: pathSchema },
  { name: 'now', schema: { type: 'object', properties: { zone: { type: 'integer' } } } },
]

const a = '{"path":"a"}'
const b = '{"path":"b"}'

// ── Chat Completions ──

const delta = (fields: Json, choice: Json = {}, id = 'r1') => ({
  id,
  choices: [{ index: 0, delta: fields, finish_reason: null, ...choice }],
})
const role = (id = 'r1') => delta({ role: 'assistant', content: '' }, {}, id)
const tools = (...entries: Json[]) => delta({ tool_calls: entries })
const entry = (
  index: number | null,
  id: string | null,
  name: string | null,
  text: string,
): Json => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id, type: 'function' }),
  function: { ...(name === null ? {} : { name }), arguments: text },
})
const called = (...piece: Parameters<typeof entry>) => tools(entry(...piece))
const finish = delta({}, { finish_reason: 'tool_calls' })

function chat(name: string, calls: string[], ...sent: (Json | string)[]): OddStream {
  const body = sent.map((one) => (typeof one === 'string' ? one : chunk(JSON.stringify(one))))
  return { api: 'openai-chat', name, calls, body: `${body.join('')}data: [DONE]\n\n` }
}

const chatStreams = [
  chat(
    'a call in another choice than the text',
    [`read ${a}`],
    role(),
    delta({ content: 'I look.' }),
    delta({ tool_calls: [entry(0, 'c1', 'read', a)] }, { index: 1 }),
    finish,
  ),
  chat(
    'another answer beside the call',
    [`read ${a}`],
    called(0, 'c1', 'read', a),
    delta({ tool_calls: [entry(0, 'c2', 'read', b)] }, { index: 1 }),
    finish,
  ),
  chat(
    'a call in the choice itself',
    [`read ${a}`],
    delta({}, { tool_calls: [entry(0, 'c1', 'read', a)] }),
    finish,
  ),
  chat(
    'a custom tool',
    ['read free_text'],
    tools({ index: 0, id: 'c1', type: 'custom', custom: { name: 'read', input: '' } }),
    tools({ index: 0, custom: { input: a } }),
    finish,
  ),
  chat(
    'another response in the middle',
    ['now stream_error'],
    role(),
    called(0, 'c1', 'now', ''),
    role('r2'),
    called(0, 'c2', 'now', '{"zone":1}'),
    finish,
  ),
  chat(
    'a name that extends the name of another tool',
    [`read_file ${a}`],
    called(0, 'c1', 'read', ''),
    called(0, null, 'read_file', ''),
    called(0, null, null, a),
    finish,
  ),
  chat(
    'arguments under another name',
    ['now lost_arguments'],
    tools({ index: 0, id: 'c1', function: { name: 'now', parameters: { zone: 1 } } }),
    finish,
  ),
  chat(
    'arguments beside the function',
    ['now {"zone":1}'],
    tools({ index: 0, id: 'c1', function: { name: 'now' }, arguments: '{"zone":1}' }),
    finish,
  ),
  chat(
    'a placeholder under a repeated name',
    ['now {"zone":1}'],
    called(0, null, 'now', '{}'),
    called(0, null, 'now', '{"zone":'),
    called(0, null, 'now', '1}'),
    finish,
  ),
  chat(
    'two calls without ids, each announced',
    [`read ${a}`, `read ${b}`],
    called(0, null, 'read', ''),
    called(0, null, null, a),
    called(0, null, 'read', ''),
    called(0, null, null, b),
    finish,
  ),
  chat(
    'a call repeated under a new id',
    [`read ${a}`],
    called(0, 'c1', 'read', '{"path":'),
    called(0, null, null, '"a"}'),
    called(0, 'c9', 'read', a),
    finish,
  ),
  chat(
    'arguments of one of two open calls',
    ['now lost_arguments', 'now {"zone":1}'],
    called(0, 'c1', 'now', ''),
    called(1, 'c2', 'now', ''),
    called(null, null, null, '{"zone":1}'),
    finish,
  ),
  chat(
    'a placeholder, and arguments of a call that never began',
    ['now lost_arguments', `read ${a}`],
    called(0, 'c1', 'now', '{}'),
    called(1, 'c2', 'read', a),
    called(9, null, null, '{"zone":1}'),
    finish,
  ),
  chat(
    'an id and the name with each piece, the first one without arguments',
    ['now {"zone":1}'],
    called(0, 'c1', 'now', ''),
    called(0, 'c2', 'now', '{"zone":'),
    called(0, 'c3', 'now', '1}'),
    finish,
  ),
  chat(
    'an id and the name with each piece, and no arguments in any',
    ['now {}'],
    called(0, 'c1', 'now', ''),
    called(0, 'c2', 'now', ''),
    called(0, 'c3', 'now', ''),
    finish,
  ),
  chat(
    'an id that comes with the repeated name',
    ['now {}'],
    called(null, null, 'now', ''),
    called(null, 'c1', 'now', ''),
    finish,
  ),
  chat(
    'a new index and the name with each piece',
    ['now lost_arguments', 'now invalid_json', 'now invalid_json'],
    called(0, 'c1', 'now', ''),
    called(1, null, 'now', '{"zo'),
    called(2, null, 'now', 'ne":1}'),
    finish,
  ),
  chat('blanks for arguments', ['now {}'], called(0, 'c1', 'now', ' '), finish),
  chat('a ping', [`read ${a}`], called(0, 'c1', 'read', a), 'data: ping\n\n', finish),
  chat(
    'an error on a separate line',
    ['read stream_error'],
    called(0, 'c1', 'read', a),
    '{"error":{"message":"it broke","code":502}}\n\n',
    finish,
  ),
  chat(
    'an error in a list',
    ['read stream_error'],
    called(0, 'c1', 'read', a),
    'data: [{"error":{"message":"it broke"}}]\n\n',
    finish,
  ),
  chat(
    'no blank lines between the events',
    [`read ${a}`],
    `data: ${JSON.stringify(called(0, 'c1', 'read', a))}\ndata: ${JSON.stringify(finish)}\n`,
  ),
  chat('an exception under its name', ['read stream_error'], called(0, 'c1', 'read', a), {
    modelStreamErrorException: { message: 'it broke' },
  }),
  chat(
    'a field twice in arguments that are no text',
    ['now bad_arguments'],
    chunk(
      JSON.stringify(called(0, 'c1', 'now', 'zones')).replace('"zones"', '{"zone":1,"zone":2}'),
    ),
    finish,
  ),
  chat(
    'the end marker after every chunk',
    [`read ${a}`],
    ...[
      role(),
      called(0, 'c1', 'read', ''),
      called(0, null, null, '{"path":'),
      called(0, null, null, '"a"}'),
    ].flatMap((one) => [one, finish]),
  ),
  chat(
    'a call after the end marker',
    [`read ${a}`, 'now {}'],
    called(0, 'c1', 'read', a),
    finish,
    called(1, 'c2', 'now', '{}'),
  ),
]

// ── Anthropic Messages ──

const start = (index: number, block: Json) => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const use = (index: number, name: string, input: unknown = {}, id = `t${index}`) =>
  start(index, { type: 'tool_use', id, name, input })
const json = (index: number, text: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json: text },
})
const stop = (index: number) => ({ type: 'content_block_stop', index })

function message(name: string, calls: string[], ...sent: (Json | string)[]): OddStream {
  const all = [
    { type: 'message_start', message: { id: 'm1', content: [] } },
    ...sent,
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ]
  const body = all.map((one) =>
    typeof one === 'string' ? one : sse(String(one.type), JSON.stringify(one)),
  )
  return { api: 'anthropic', name, calls, body: body.join('') }
}

const messageStreams = [
  message(
    'a ping that is no JSON',
    [`read ${a}`],
    use(0, 'read'),
    'data: ping\n\n',
    'event: ping\ndata: ping\n\n',
    json(0, a),
    stop(0),
  ),
  message(
    'arguments for a finished block',
    ['now lost_arguments'],
    start(0, { type: 'server_tool_use', id: 's1', name: 'search', input: {} }),
    stop(0),
    use(1, 'now'),
    json(0, '{"zone":1}'),
    stop(1),
  ),
  message(
    'a call announced again with its input',
    ['now {"zone":1}'],
    use(0, 'now'),
    use(0, 'now', { zone: 1 }),
    stop(0),
  ),
  message(
    'a call announced with two inputs',
    ['now stream_error'],
    use(0, 'now', { zone: 1 }),
    use(0, 'now', { zone: 2 }),
    stop(0),
  ),
  message(
    'a call announced in two blocks',
    ['now {"zone":1}'],
    use(0, 'now', {}, 't1'),
    stop(0),
    use(1, 'now', {}, 't1'),
    json(1, '{"zone":1}'),
    stop(1),
  ),
  message(
    'the word null for a reason',
    ['now truncated'],
    use(0, 'now'),
    stop(0),
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
    { type: 'message_delta', delta: { stop_reason: 'null' } },
  ),
  message(
    'an exception under its name',
    ['now stream_error'],
    use(0, 'now'),
    stop(0),
    'data: {"throttlingException":{"message":"wait"}}\n\n',
  ),
  message(
    'a field twice in the input of the announcement',
    ['now bad_arguments'],
    sse(
      'content_block_start',
      JSON.stringify(use(0, 'now', 'zones')).replace('"zones"', '{"zone":1,"zone":2}'),
    ),
    stop(0),
  ),
  message(
    'an error without a type',
    ['now stream_error'],
    use(0, 'now'),
    stop(0),
    'data: {"error":"it broke"}\n\n',
  ),
]

// ── Responses ──

const item = (name: string, fields: Json = {}) => ({
  type: 'function_call',
  id: 'f1',
  call_id: 'c1',
  name,
  arguments: '',
  ...fields,
})
const added = (index: number, one: Json) => ({
  type: 'response.output_item.added',
  output_index: index,
  item: one,
})
const ended = (index: number, one: Json) => ({
  type: 'response.output_item.done',
  output_index: index,
  item: { ...one, status: 'completed' },
})
const piece = (text: string, fields: Json = { item_id: 'f1', output_index: 0 }) => ({
  type: 'response.function_call_arguments.delta',
  delta: text,
  ...fields,
})
const created = (id: string) => ({ type: 'response.created', response: { id } })

function response(name: string, calls: string[], ...sent: (Json | string)[]): OddStream {
  const all = [
    created('r1'),
    ...sent,
    { type: 'response.completed', response: { id: 'r1', status: 'completed', output: [] } },
  ]
  const body = all.map((one) =>
    typeof one === 'string' ? one : sse(String(one.type), JSON.stringify(one)),
  )
  return { api: 'openai-responses', name, calls, body: body.join('') }
}

const second = item('now', { id: 'f2', call_id: 'c2' })
const responseStreams = [
  response(
    'a ping that is no JSON',
    [`read ${a}`],
    added(0, item('read')),
    'data: ping\n\n',
    piece(a),
    ended(0, item('read', { arguments: a })),
  ),
  response(
    'arguments that name neither of two open calls',
    [`read ${a}`, 'now lost_arguments'],
    added(0, item('read')),
    added(1, second),
    piece(a, {}),
    ended(0, item('read', { arguments: a })),
    ended(1, second),
  ),
  response(
    'another response in the middle',
    ['now stream_error'],
    added(0, item('now')),
    created('r2'),
    ended(0, item('now')),
  ),
  response(
    'pieces that break off in front of the whole arguments',
    [`read ${a}`],
    added(0, item('read')),
    piece('{"path":'),
    { type: 'response.function_call_arguments.done', item_id: 'f1', arguments: a },
    ended(0, item('read', { arguments: a })),
  ),
  response(
    'pieces that break off and begin the arguments of two calls',
    ['read invalid_json', `read ${b}`],
    added(0, item('read')),
    added(1, item('read', { id: 'f2', call_id: 'c2' })),
    piece('{"path":'),
    ended(0, item('read', { arguments: a })),
    ended(1, item('read', { id: 'f2', call_id: 'c2', arguments: b })),
  ),
  response(
    'two ends that differ',
    ['read lost_arguments'],
    added(0, item('read')),
    { type: 'response.function_call_arguments.done', item_id: 'f1', arguments: a },
    ended(0, item('read', { arguments: b })),
  ),
  response(
    'a field twice in arguments that are no text',
    ['now bad_arguments'],
    added(0, item('now')),
    sse(
      'response.output_item.done',
      JSON.stringify(ended(0, item('now', { arguments: 'zones' }))).replace(
        '"zones"',
        '{"zone":1,"zone":2}',
      ),
    ),
  ),
  response(
    'two names for one call',
    ['now truncated'],
    added(0, item('now')),
    piece(a),
    ended(0, item('read', { arguments: a })),
  ),
  response(
    'an exception',
    ['read stream_error'],
    added(0, item('read')),
    piece(a),
    ended(0, item('read', { arguments: a })),
    {
      type: 'exception',
      message: 'it broke',
    },
  ),
  response(
    'a call in a text whose final version differs',
    [],
    {
      type: 'response.output_text.delta',
      item_id: 'm1',
      output_index: 0,
      delta: `{"name":"read","arguments":${a}}`,
    },
    {
      type: 'response.output_text.done',
      item_id: 'm1',
      output_index: 0,
      text: `{"name":"read","arguments":${b}}`,
    },
  ),
  response(
    'a call in a text whose last piece is missing',
    [`read ${a}`],
    {
      type: 'response.output_text.delta',
      item_id: 'm1',
      output_index: 0,
      delta: '{"name":"read",',
    },
    {
      type: 'response.output_text.done',
      item_id: 'm1',
      output_index: 0,
      text: `{"name":"read","arguments":${a}}`,
    },
  ),
  response(
    'a call in a text that the server calls incomplete',
    [],
    {
      type: 'response.output_text.delta',
      item_id: 'm1',
      output_index: 0,
      delta: `<tool_call>{"name":"read","arguments":${a}}</tool_call>`,
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', id: 'm1', status: 'incomplete', content: [] },
    },
  ),
]

export const oddStreams: OddStream[] = [...chatStreams, ...messageStreams, ...responseStreams]
