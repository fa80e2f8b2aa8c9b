// Transcripts of other runtimes become bundles, and are read, judged and folded like any other.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { recordsOf } from '../../../apps/history/inspect/recorded.ts'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { type OpenLog, withLog } from '../../../apps/history/open-log.ts'
import { judgeFile } from '../../../apps/replay/judge/judge.ts'
import {
  type ImportTranscriptOptions,
  importTranscript,
} from '../../../apps/transcripts/import-transcript.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { output } from '../../support/output.ts'
import { refoldLog } from '../../support/refold-log.ts'

let folder: string
let bundle: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-transcript-'))
  bundle = join(folder, 'a.weir')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function imported(
  content: unknown,
  format: string,
  name = 'log.json',
  more: Partial<ImportTranscriptOptions> = {},
): Promise<string> {
  const file = join(folder, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  const { stream, text } = output()
  await importTranscript(file, { format, output: bundle, force: true, ...more }, stream)
  return text()
}

const look = <T>(see: (log: OpenLog) => Promise<T>): Promise<T> =>
  withLog(readSettings({}, {}), see, { bundle })

const timeline = (conversation: string): Promise<Timeline> =>
  look(async (log) =>
    timelineOf(conversation, await recordsOf(conversation, log), { reasoning: true }),
  )

async function judgement(file: string, ...set: string[]): Promise<string> {
  const { stream, text } = output()
  await judgeFile(file, { set }, stream)
  return text()
}

/**
 * Each turn: its message, its outcome, and its rounds as `text` or
 * `tool(arguments)=status: result`.
 */
async function toldOf(conversation: string) {
  const { turns } = await timeline(conversation)
  return turns.map(({ text: user, rounds }) => ({
    user,
    rounds: rounds.flatMap(({ response, calls }) =>
      calls.length > 0
        ? calls.map(
            ({ name, rawArguments, result }) =>
              `${name}(${rawArguments})=${result?.status}: ${result?.text}`,
          )
        : response === null
          ? []
          : [response.text],
    ),
  }))
}

const anthropic = [
  { role: 'user', content: 'list my files' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 't1', name: 'exec', input: { command: 'ls' } },
      { type: 'tool_use', id: 't2', name: 'exec', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't2',
        content: [{ type: 'text', text: 'no command' }],
        is_error: true,
      },
      { type: 'tool_result', tool_use_id: 't1', content: 'a b' },
    ],
  },
  { role: 'assistant', content: 'Two: a and b.' },
  { role: 'user', content: [{ type: 'text', text: 'thanks' }] },
  {
    role: 'assistant',
    content: [{ type: 'text', text: 'Welcome.' }],
    usage: { input_tokens: 7, output_tokens: 3 },
  },
]

const whole = [
  {
    user: 'list my files',
    rounds: ['exec({"command":"ls"})=ok: a b', 'exec({})=error: no command', 'Two: a and b.'],
  },
  { user: 'thanks', rounds: ['Welcome.'] },
]

const chat = [
  { role: 'system', content: 'You are under test.' },
  { role: 'user', content: 'list my files' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'exec', arguments: '{"command":"ls"}' } },
      { id: 'c2', type: 'function', function: { name: 'exec', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'a b' },
  { role: 'tool', tool_call_id: 'c2', content: 'Error: no command' },
  { role: 'assistant', content: 'Two: a and b.' },
  { role: 'user', content: 'thanks' },
  { role: 'assistant', content: 'Welcome.' },
]

const items = [
  { role: 'user', content: 'list my files' },
  { type: 'reasoning', id: 'rs_1', summary: [] },
  { type: 'function_call', call_id: 'c1', name: 'exec', arguments: '{"command":"ls"}' },
  { type: 'function_call', call_id: 'c2', name: 'exec', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: 'a b' },
  { type: 'function_call_output', call_id: 'c2', output: 'Error: no command' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two: a and b.' }] },
  { role: 'user', content: [{ type: 'input_text', text: 'thanks' }] },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Welcome.' }] },
]

const agentsInJavaScript = {
  originalInput: 'list my files',
  generatedItems: [
    {
      type: 'tool_call_item',
      rawItem: {
        type: 'function_call',
        callId: 'c1',
        name: 'exec',
        arguments: '{"command":"ls"}',
        status: 'completed',
      },
    },
    {
      type: 'tool_call_item',
      rawItem: {
        type: 'function_call',
        callId: 'c2',
        name: 'exec',
        arguments: '{}',
        status: 'completed',
      },
    },
    {
      type: 'tool_call_output_item',
      rawItem: {
        type: 'function_call_result',
        callId: 'c1',
        name: 'exec',
        output: { type: 'text', text: 'a b' },
      },
    },
    {
      type: 'tool_call_output_item',
      rawItem: {
        type: 'function_call_result',
        callId: 'c2',
        name: 'exec',
        output: { type: 'text', text: 'Error: no command' },
      },
    },
    {
      type: 'message_output_item',
      rawItem: {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Two: a and b.' }],
      },
    },
  ],
}

function chatAnswer() {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: chat[7], finish_reason: 'stop' }],
  }
}

const says = (error: string) =>
  whole.map(({ user, rounds }) => ({
    user,
    rounds: rounds.map((round) => round.replace('error: no', `error: ${error}no`)),
  }))

describe('weir import-transcript', () => {
  it.each([
    ["Anthropic's messages", 'anthropic', anthropic, whole],
    [
      'the body of a request to Anthropic',
      'anthropic',
      { model: 'm', max_tokens: 9, messages: anthropic },
      whole,
    ],
    ['messages of Chat Completions', 'openai', chat, says('Error: ')],
    ['items of Responses', 'openai', items, says('Error: ')],
    [
      'a request to Responses and its answer',
      'openai',
      { input: items.slice(0, -1), output: items.slice(-1) },
      says('Error: '),
    ],
    ['what a session of the Agents SDK keeps', 'openai-agents', items, says('Error: ')],
    ['a run of the Agents SDK', 'openai-agents', agentsInJavaScript, says('Error: ').slice(0, 1)],
  ] as const)(
    'reads %s, with each call and its result, into whole turns',
    async (_, format, content, told) => {
      expect(await imported(content, format)).toContain('1 conversation')
      expect(await toldOf('log')).toEqual(told)
    },
  )

  it('writes records from which every stage derives the same records', async () => {
    await imported(anthropic, 'anthropic')
    const { compared, missing, differing } = await look(refoldLog)
    expect({ missing, differing }).toEqual({ missing: [], differing: [] })
    expect(compared).toBeGreaterThan(20)
    const [turn] = await look(async (log) => [...(log.bundle?.turns() ?? [])])
    expect(turn).toMatchObject({ outcome: 'answered', rounds: 2, calls: 2, whole: true })
  })

  it('plays without interventions, and weir judge finds those of Weir', async () => {
    const call = (n: number) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'exec', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: `t${n}`, content: 'no command', is_error: true },
        ],
      },
    ]
    await imported(
      [
        { role: 'user', content: 'go' },
        ...Array.from({ length: 25 }, (_, n) => call(n)).flat(),
        { role: 'assistant', content: 'I give up.' },
      ],
      'anthropic',
    )
    const shown = await timeline('log')
    expect(shown.turns[0]?.rounds).toHaveLength(26)
    expect(shown.turns[0]?.rounds.some(({ intervention }) => intervention !== null)).toBe(false)
    const { stream, text } = output()
    expect(await judgeFile(bundle, { json: true }, stream)).toBe(0)
    expect(JSON.parse(text())).toMatchObject({
      id: 'log',
      step: 4,
      action: 'nudge',
      rule: 'identical-failure@5',
      settings: null,
    })
    const inspected = join(folder, 'inspected.jsonl')
    writeFileSync(inspected, JSON.stringify(shown))
    for (const file of [bundle, inspected]) {
      expect(await judgement(file)).toMatch(
        /failed in 3 rounds.*\n {6}by Weir's defaults\n1 scenario/,
      )
      expect(await judgement(file, 'loop.identicalFailures=2')).toMatch(
        /failed in 2 rounds.*\n {6}by Weir's defaults, but for --set\n/,
      )
    }
  })

  it('does not intervene by a rule without a threshold, and reports it', async () => {
    const chant = 'I will look at the files again now. '.repeat(20)
    await imported([chat[1], { role: 'assistant', content: chant }, chat[6], chat[7]], 'openai')
    expect((await toldOf('log')).map(({ rounds }) => rounds)).toEqual([
      [expect.stringContaining('I will look')],
      ['Welcome.'],
    ])
    const turns = await look(async (log) => [...(log.bundle?.turns() ?? [])])
    expect(turns.map(({ outcome }) => outcome)).toEqual(['answered', 'answered'])
    expect(await judgement(bundle)).toMatch(
      /said the same 20 times in a row.*\n {6}by Weir's defaults/,
    )
  })

  it('keeps the longest of repeated requests, and separates transcripts', async () => {
    const other = [
      { role: 'user', content: 'who are you?' },
      { role: 'assistant', content: 'Nobody.' },
    ]
    const lines = [anthropic.slice(0, 2), anthropic.slice(0, 4), other, anthropic].map((messages) =>
      JSON.stringify({ messages }),
    )
    const told = await imported(`${lines.join('\n')}\n`, 'anthropic', 'logs.jsonl')
    expect(told).toContain('2 conversations, 3 turns')
    expect(told).toContain('  2 transcripts are the beginning of a longer one')
    expect(told).not.toContain('the same as a later one')
    expect((await toldOf('logs-2')).length).toBe(2)
  })

  it('keeps conversations with different ids, also if one repeats the beginning of another', async () => {
    const line = (id: string | number | undefined, ...texts: string[]) =>
      JSON.stringify({
        id,
        messages: texts.map((content, at) => ({
          role: at % 2 === 0 ? 'user' : 'assistant',
          content,
        })),
      })
    const long = ['ping', 'pong', 'more', 'ok']
    const different = [
      line('alice', 'ping', 'pong'),
      line('bob', ...long),
      line('carol', 'ping', 'pong'),
    ]
    const told = await imported(different.join('\n'), 'openai', 'two.jsonl')
    expect(told).toContain('3 conversations, 4 turns')
    expect(told).not.toContain('line')
    for (const [id, turns] of Object.entries({ alice: 1, bob: 2, carol: 1 }))
      expect(await toldOf(id)).toHaveLength(turns)

    const numbered = [line(1, 'ping', 'pong'), line(2, ...long), line(3, 'ping', 'pong')]
    expect(await imported(numbered.join('\n'), 'openai', 'two.jsonl')).toContain(
      '3 conversations, 4 turns',
    )
    expect(await toldOf('3')).toHaveLength(1)

    const same = [
      line('bob', 'ping', 'pong'),
      line('bob', ...long),
      line('bob', ...long),
      line('alice', 'ping', 'pong'),
    ]
    const shorter = await imported(same.join('\n'), 'openai', 'two.jsonl')
    expect(shorter).toContain('2 conversations, 3 turns')
    expect(shorter).toContain('  1 transcript is the beginning of a longer one')
    expect(shorter).toContain('  1 transcript is the same as a later one')

    const withoutId = [line(undefined, 'ping', 'pong'), line('bob', ...long)]
    expect(await imported(withoutId.join('\n'), 'openai', 'two.jsonl')).toContain(
      '2 conversations, 3 turns',
    )
  })

  it('joins requests with own ids by their contents, with the tokens of each answer', async () => {
    const asked = [chat.slice(0, 2), chat.slice(0, 5), chat.slice(0, 7)]
    const lines = asked.map((messages, at) => {
      const message = chat[messages.length] as Record<string, unknown>
      const usage = { prompt_tokens: 10 * (at + 1), completion_tokens: 1 }
      return {
        time: at,
        request: { messages },
        response: { id: `chatcmpl-${at}`, choices: [{ message, finish_reason: 'stop' }], usage },
      }
    })
    const told = await imported(
      `\ufeff${lines.map((line) => JSON.stringify(line)).join('\r\n')}\r\n\r\n`,
      'openai',
      'log.jsonl',
    )
    expect(told).toContain('1 conversation, 2 turns')
    expect(told).toContain('  2 transcripts are the beginning of a longer one')
    expect(await toldOf('log')).toEqual(says('Error: '))
    expect((await timeline('log')).turns[0]?.rounds[0]?.response).toMatchObject({
      stop: 'calls',
      finish: 'stop',
    })
    const turns = await look(async (log) => [...(log.bundle?.turns() ?? [])])
    expect(turns.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
      [30, 2],
      [30, 1],
    ])
  })

  it('puts back an empty answer that no later request repeats', async () => {
    const messages = [{ role: 'user', content: 'go' }]
    const answered = (content: string) =>
      JSON.stringify({ request: { messages }, response: { choices: [{ message: { content } }] } })
    await imported(
      [answered(''), answered(' '), answered('Done.')].join('\n'),
      'openai',
      'log.jsonl',
    )
    expect(await toldOf('log')).toEqual([{ user: 'go', rounds: ['', '', 'Done.'] }])
    const longer = JSON.stringify([
      ...messages,
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'Done.' },
    ])
    await imported([answered(''), longer].join('\n'), 'openai', 'log.jsonl')
    expect(await toldOf('log')).toEqual([{ user: 'go', rounds: ['', 'Done.'] }])
  })

  it.each([
    ['beside a request', { request: {}, session_id: 'S' }, 'S'],
    [
      'in what is said of it',
      { request: {}, metadata: { conversation_id: 'S', user_id: 'u' } },
      'S',
    ],
    ['in the request', { request: { metadata: { thread_id: 'S' } } }, 'S'],
    ['as a property', { request: {}, properties: { 'Helicone-Session-Id': 'S' } }, 'S'],
    ['as a group of traces', { request: {}, trace_id: 't', group_id: 'S' }, 'S'],
    ['as a trace', { request: {}, id: 'x', trace_id: 'S' }, 'S'],
    [
      'nowhere, but for ids of the request',
      { id: 'x', request_id: 'y', custom_id: 'z', request: { user: 'u' } },
      'log',
    ],
    ['of a project only', { run_type: 'llm', session_id: 'project', request: {} }, 'log'],
  ])('names a conversation by an id %s', async (_, around, name) => {
    const messages = [{ role: 'user', content: 'ping' }]
    const response = {
      id: 'chatcmpl-1',
      choices: [{ message: { role: 'assistant', content: 'pong' } }],
    }
    await imported({ ...around, request: { ...around.request, messages }, response }, 'openai')
    expect(await toldOf(name)).toEqual([{ user: 'ping', rounds: ['pong'] }])
  })

  it('reads the id of a conversation from the given field', async () => {
    const line = (chatOf: string, session_id: string) =>
      JSON.stringify({
        about: { chat: chatOf },
        session_id,
        request: [{ role: 'user', content: 'ping' }],
        response: 'pong',
      })
    const content = [line('a', '1'), line('a', '2'), line('b', '3')].join('\n')
    expect(await imported(content, 'openai', 'log.jsonl')).toContain('3 conversations')
    expect(
      await imported(content, 'openai', 'log.jsonl', { conversationId: 'about.chat' }),
    ).toContain('2 conversations')
    expect(await toldOf('b')).toHaveLength(1)
    expect(await imported(content, 'openai', 'log.jsonl', { conversationId: 'none' })).toContain(
      '1 conversation,',
    )
  })

  it('continues a history kept at the provider, and reports the missing part', async () => {
    const [question, , call, , result, , answer, thanks] = items
    const lines = [
      { request: { input: [question], store: true }, response: { id: 'resp_1', output: [call] } },
      {
        request: { input: [result], previous_response_id: 'resp_1' },
        response: { id: 'resp_2', output: [answer] },
      },
      {
        request: { input: [thanks], previous_response_id: 'resp_0' },
        response: { id: 'resp_4', output: [answer] },
      },
    ]
    const told = await imported(
      lines.map((line) => JSON.stringify(line)).join('\n'),
      'openai',
      'log.jsonl',
    )
    expect(told).toContain('2 conversations, 2 turns')
    expect(told).toContain(
      'left out: the history before a request whose earlier request is not in the file (',
    )
    expect(told).toMatch(/log\.jsonl:3\)/)
    expect((await toldOf('log-1'))[0]?.rounds).toEqual([
      'exec({"command":"ls"})=ok: a b',
      'Two: a and b.',
    ])
  })

  it.each([
    [
      'texts, as databases keep them',
      'openai',
      {
        request: JSON.stringify({ messages: chat.slice(0, 7) }),
        response: JSON.stringify(chat[7]),
      },
    ],
    [
      'what a proxy saw',
      'openai',
      {
        request: { body: { messages: chat.slice(0, 7) } },
        response: { status: 200, body: chatAnswer() },
      },
    ],
    ['one object', 'openai', { messages: chat.slice(0, 7), response: chatAnswer() }],
    [
      'a run',
      'openai',
      { run_type: 'llm', inputs: { messages: chat.slice(0, 7) }, outputs: { message: chat[7] } },
    ],
    [
      'input and output',
      'openai',
      { type: 'GENERATION', input: chat.slice(0, 7), output: chat[7] },
    ],
    [
      'a request and its message',
      'anthropic',
      { request: { messages: anthropic.slice(0, 5) }, response: { ...anthropic[5], id: 'msg_1' } },
    ],
    [
      'one of a batch',
      'anthropic',
      {
        params: { messages: anthropic.slice(0, 5) },
        result: { type: 'succeeded', message: anthropic[5] },
      },
    ],
    [
      'a span of a trace',
      'openai-agents',
      {
        object: 'trace.span',
        span_data: { type: 'generation', input: chat.slice(0, 7), output: [chat[7]] },
      },
    ],
  ] as const)('reads a request and its answer as %s', async (_, format, line) => {
    await imported(line, format)
    expect((await toldOf('log')).at(-1)).toEqual(whole[1])
  })

  it('reads a session of enveloped messages, and separates its agents', async () => {
    const at = { sessionId: 's' }
    const said = (id: string, block: object) => ({
      ...at,
      type: 'assistant',
      message: { role: 'assistant', id, content: [block] },
    })
    const result = (id: string) => ({
      ...at,
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: id }] },
    })
    const side = { ...at, isSidechain: true }
    const lines = [
      { type: 'summary', summary: '' },
      { ...at, isMeta: true, message: { role: 'user', content: 'a remark' } },
      { ...at, message: { role: 'user', content: 'go' } },
      said('msg_1', { type: 'tool_use', id: 'a', name: 'read', input: {} }),
      result('a'),
      { ...side, uuid: 'x', parentUuid: null, message: { role: 'user', content: 'a part' } },
      said('msg_1', { type: 'tool_use', id: 'b', name: 'read', input: {} }),
      {
        ...side,
        uuid: 'y',
        parentUuid: 'x',
        message: { role: 'assistant', content: 'Part done.' },
      },
      result('b'),
      said('msg_2', { type: 'text', text: 'Done.' }),
    ]
    const told = await imported(
      lines.map((line) => JSON.stringify(line)).join('\n'),
      'anthropic',
      'log.jsonl',
    )
    expect(told).toMatch(
      /left out: a line of type summary \(.*log\.jsonl:1\)\n.*left out: a message that the runtime wrote \(.*log\.jsonl:2\)/,
    )
    expect(await toldOf('s')).toEqual([
      { user: 'go', rounds: ['read({})=ok: a', 'read({})=ok: b', 'Done.'] },
    ])
    expect((await timeline('s')).turns[0]?.rounds).toHaveLength(2) // messages with one id are one response
    expect(await toldOf('s/x')).toEqual([{ user: 'a part', rounds: ['Part done.'] }])
  })

  it('reads a session of Claude Code by its name, with the arguments that the model sent', async () => {
    const line = (uuid: string, message: object, more: object = {}) => ({
      sessionId: 's',
      uuid,
      parentUuid: null,
      isSidechain: false,
      type: 'user',
      message,
      ...more,
    })
    const use = (id: string, input: object) => ({ type: 'tool_use', id, name: 'read', input })
    const unread = { __unparsedToolInput: { raw: '{"path": "a' } }
    const lines = [
      line('1', { role: 'user', content: 'go' }),
      line('2', { role: 'user', content: 'a remark' }, { isMeta: true }),
      line('3', { role: 'assistant', id: 'm1', content: [use('a', unread)] }),
      line('4', {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: 'no JSON', is_error: true }],
      }),
      line('5', { role: 'assistant', id: 'm2', content: [{ type: 'text', text: 'Sorry.' }] }),
    ]
    const told = await imported(
      lines.map((one) => JSON.stringify(one)).join('\n'),
      'claude-code',
      'session.jsonl',
    )
    expect(told).toContain('left out: a message that the runtime wrote')
    const [turn] = (await timeline('s')).turns
    expect(
      turn?.rounds.flatMap(({ calls }) => calls.map(({ rawArguments }) => rawArguments)),
    ).toEqual(['{"path": "a'])
  })

  it('reads a session of Codex by its name, and counts the lines between the items', async () => {
    const item = (payload: object) => ({ timestamp: 't', type: 'response_item', payload })
    const lines = [
      { timestamp: 't', type: 'session_meta', payload: { id: 's', cwd: '/' } },
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }),
      { timestamp: 't', type: 'event_msg', payload: { type: 'token_count' } },
      item({ type: 'function_call', call_id: 'a', name: 'shell', arguments: '{"cmd":"ls"}' }),
      item({ type: 'function_call_output', call_id: 'a', output: 'Error: no folder' }),
      item({
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Done.' }],
      }),
    ]
    const told = await imported(
      lines.map((one) => JSON.stringify(one)).join('\n'),
      'codex',
      'rollout.jsonl',
    )
    expect(told).toMatch(/left out: a line of type event_msg/)
    expect(await toldOf('s')).toEqual([
      { user: 'go', rounds: ['shell({"cmd":"ls"})=error: Error: no folder', 'Done.'] },
    ])
  })

  it('reads lists of transcripts, also with one element on each line, which JSON does not allow', async () => {
    const two = [{ messages: anthropic }, { messages: anthropic.slice(4) }]
    expect(await imported(two, 'anthropic')).toContain('2 conversations, 3 turns')
    expect(await imported({ object: 'list', data: two }, 'anthropic')).toContain(
      '2 conversations, 3 turns',
    )
    const lines = two.map((one) => `${JSON.stringify(one)},\n`)
    expect(await imported(`[\n${lines.join('')}]\n`, 'anthropic')).toContain(
      '2 conversations, 3 turns',
    )
  })

  it('leaves out unusable lines, and counts them by kind with their first places', async () => {
    const king = JSON.stringify([chat[1], { role: 'king', content: 'x' }])
    const lines = [
      JSON.stringify(chat),
      king,
      '{"messages":',
      king,
      '',
      JSON.stringify(chat.slice(0, 2).toReversed()),
      '{"a":1}',
    ]
    const told = await imported(lines.join('\n'), 'openai', 'log.jsonl')
    expect(told).toContain('1 conversation, 2 turns')
    expect(told.replaceAll(folder, '')).toContain(
      'a transcript that cannot be used: messages[].role: is "king"; must be system',
    )
    expect(told).toMatch(/assistant or tool \(2 times, first .*log\.jsonl:2\)/)
    expect(told).toMatch(/cannot be used: is not JSON; .*log\.jsonl:3\)/)
    expect(told).toMatch(/cannot be used: has neither messages nor input; .*log\.jsonl:7\)/)
  })

  it('accepts results in the order of tool ends, and counts one before its call', async () => {
    const [system, question, calls, first, second, ...others] = chat
    await imported([system, question, calls, second, first, ...others], 'openai')
    expect(await toldOf('log')).toEqual(says('Error: '))
    const told = await imported([system, question, second, calls, first, ...others], 'openai')
    expect(told).toMatch(
      /left out: a result without a call before it \(.*log\.json messages\[2\]\)/,
    )
  })

  it('matches calls and results without ids by order, and reads the old functions', async () => {
    const older = [
      { role: 'user', content: 'sum' },
      { role: 'assistant', content: null, function_call: { name: 'add', arguments: '{"a":1}' } },
      { role: 'function', name: 'add', content: '1' },
      { role: 'assistant', tool_calls: [{ function: { name: 'add', arguments: { a: 2 } } }] },
      { role: 'tool', content: '{"error":"no"}' },
      { role: 'assistant', content: 'Done.' },
    ]
    await imported(
      { messages: older, functions: [{ name: 'add', parameters: { type: 'object' } }] },
      'openai',
    )
    expect((await toldOf('log'))[0]?.rounds).toEqual([
      'add({"a":1})=ok: 1',
      'add({"a":2})=error: {"error":"no"}',
      'Done.',
    ])
  })

  it('does not treat an answer with provider tools as empty', async () => {
    const ran = {
      role: 'assistant',
      content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
    }
    await imported([anthropic[0], ran, anthropic[5]], 'anthropic')
    expect(await toldOf('log')).toEqual([{ user: 'list my files', rounds: ['Welcome.'] }])
  })

  it('reads a file with a message on each line as one transcript', async () => {
    await imported(
      anthropic.map((message) => JSON.stringify(message)).join('\n'),
      'anthropic',
      'log.jsonl',
    )
    expect(await toldOf('log')).toEqual(whole)
  })

  it('checks calls by the tools of the transcript, and reports changed results', async () => {
    const schema = {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
    }
    const told = await imported(
      { messages: anthropic, tools: [{ name: 'exec', input_schema: schema }] },
      'anthropic',
    )
    expect(told).toContain(
      "a call that Weir denies before it runs (schema): its result is Weir's, not the recorded one",
    )
    expect((await toldOf('log'))[0]?.rounds[1]).toContain('denied')
  })

  it('leaves an unended turn open, and still begins the next turn', async () => {
    const messages = [
      ...anthropic.slice(0, 2),
      { role: 'user', content: 'never mind' },
      { role: 'assistant', content: 'Fine.' },
    ]
    expect(await imported(messages, 'anthropic')).toContain(
      'a call has no result in the transcript, and none here (2 times, first ',
    )
    const turns = await look(async (log) => [...(log.bundle?.turns() ?? [])])
    expect(turns.map(({ outcome }) => outcome)).toEqual(['cancelled', 'answered'])
  })

  it('goes on after a call without a result, whose outcome is unknown', async () => {
    const one = [...chat.slice(0, 3), chat[4], ...chat.slice(5)] // of two calls at once
    expect(await imported(one, 'openai')).toContain(
      'the model went on: its outcome is unknown here',
    )
    expect((await toldOf('log')).map(({ rounds }) => rounds)).toEqual([
      [
        expect.stringMatching(/^exec.*=unseen: The agent went on without a result of this call/),
        'exec({})=error: Error: no command',
        'Two: a and b.',
      ],
      ['Welcome.'],
    ])
  })

  it('leaves out and counts blocks of a later release', async () => {
    const later = {
      role: 'assistant',
      content: [
        { type: 'compaction', content: '…' },
        { type: 'text', text: 'Here.' },
      ],
    }
    expect(
      await imported([...anthropic, { role: 'user', content: 'and?' }, later], 'anthropic'),
    ).toContain('left out: a block of type compaction')
    expect((await toldOf('log')).at(-1)).toEqual({ user: 'and?', rounds: ['Here.'] })
  })

  it('truncates a message that is too long, and ignores an invalid id', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(2 * 1024 * 1024) }, ...chat.slice(2)]
    const said = await imported({ id: ' ', messages }, 'openai')
    expect(said).toContain('left out: the end of a user message above 1048576 bytes')
    expect((await toldOf('log')).map(({ user }) => user?.length)).toEqual([1_048_576, 6])
  })

  // Each round takes a turn of the event loop at least, so all of these come before the end.
  it.each([0, 20, 100])(
    'stops on Ctrl-C, %i turns of the event loop after its start, and leaves nothing',
    async (turns) => {
      const rounds = Array.from({ length: 200 }, (_, n) => [
        chat[2],
        { ...chat[3], content: `file ${n}` },
        chat[4],
      ]).flat()
      const file = join(folder, 'long.json')
      writeFileSync(file, JSON.stringify([...chat.slice(0, 2), ...rounds]))
      const ended = importTranscript(file, { format: 'openai', output: bundle }, output().stream)
      for (let turn = 0; turn < turns; turn += 1) await othersTurn()
      process.emit('SIGINT')
      expect(await ended).toBe(130)
      expect(readdirSync(folder)).toEqual(['long.json'])
    },
  )

  it.each([
    ['an empty file', 'anthropic', '', 'log.json: is empty'],
    ['no JSON', 'anthropic', 'hello', 'log.json:1: is not JSON'],
    [
      'lines that are no JSON',
      'anthropic',
      '{"messages":\n{"messages":',
      'log.json:1: is not JSON',
    ],
    [
      'a mistake in JSON of many lines',
      'openai',
      '{\n  "messages": [\n  }\n}',
      'log.json:1: is not JSON (Unexpected token',
    ],
    ['something else', 'anthropic', { a: 1 }, 'log.json: has no messages'],
    [
      'a part of OpenAI',
      'anthropic',
      [{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
      'content[0].type: is "input_text"',
    ],
    [
      'a call of a user',
      'anthropic',
      [{ role: 'user', content: [{ type: 'tool_use', id: 'c' }] }],
      'content[0].type: is "tool_use"',
    ],
    ['a text', 'openai', '"hello"', 'log.json: is "hello"; must be an object'],
    [
      'another role',
      'anthropic',
      [{ role: 'king', content: '' }],
      'log.json messages[0].role: is "king"; must be user or assistant',
    ],
    [
      'a role of OpenAI',
      'anthropic',
      [{ role: 'developer', content: '' }],
      'If it is of OpenAI, use --format openai',
    ],
    ['messages of OpenAI', 'anthropic', chat, 'which are of OpenAI. Use --format openai'],
    ['messages of Anthropic', 'openai', anthropic, 'which is of Anthropic. Use --format anthropic'],
    [
      'a call without a name',
      'openai',
      [{ role: 'assistant', tool_calls: [{ id: 'c', function: {} }] }],
      'messages[0].tool_calls[0].function.name: is missing',
    ],
    ['an unknown item', 'openai-agents', [{ type: 'riddle' }], 'log.json[0].type: is "riddle"'],
    [
      'nobody who asks',
      'anthropic',
      [{ role: 'assistant', content: 'Hello.' }],
      'the transcript has no message of a user',
    ],
    [
      'nobody who answers',
      'openai',
      [{ role: 'user', content: 'Hello?' }],
      'the transcript has no response of a model',
    ],
  ] as const)('refuses %s with the place and the reason', async (_, format, content, told) => {
    await expect(imported(content, format)).rejects.toMatchObject({
      code: 'transcript.invalid',
      message: expect.stringContaining(told),
    })
    expect(existsSync(bundle)).toBe(false)
  })
})
