// The open turn in a guest's history: keys, results and tools, in every format.

import { describe, expect, it } from '@jest/globals'
import {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  ToolMessage,
} from '@langchain/core/messages'
import type { GuestFormat } from '../../../../client/guard/guest-conversation.ts'
import {
  answeredRound,
  historyOf,
  newestResultIn,
  responseOf,
  toolsFor,
} from '../../../../client/guard/history/history.ts'
import { withoutReminders } from '../../../../client/guard/history/reminders.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { declarationOf } from '../../../../shared/transcript/transcript.ts'
import { formatNames } from '../../../../shared/wire/formats.ts'
import {
  answerOf,
  requestOf,
  type Said,
  saidCall,
  saidText,
} from '../../../support/guest-requests.ts'

const read = (n: number, id = `call_${n}`) =>
  saidCall('read', { path: `${n}.ts`, depth: 1 }, { id, result: `content ${n}` })

const turns = [
  { user: 'Fix it.', responses: [read(1), saidText('Fixed.')] },
  { user: 'Now the test.', responses: [read(2), read(2), read(3)] },
]

const tools = [declarationOf('read', 'reads', { type: 'object', required: ['path'] })]

it('a history of Messages offers the tools that the API defines for clients', () => {
  const types = ['bash_20250124', 'text_editor_20250728', 'computer_20250124', 'memory_20250818']
  const ofProvider = ['web_search_20250305', 'web_fetch_20250910', 'code_execution_20250825']
  const named = [...types, ...ofProvider].map((type) => ({ type, name: type }))
  const toolset = { type: 'mcp_toolset', mcp_server_name: 'docs' }
  const body = { tools: [...named, toolset], messages: [{ role: 'user', content: 'Go.' }] }
  const { tools } = historyOf({ format: 'anthropic', body })
  expect(tools?.map(({ name }) => name)).toEqual(types)
})

describe.each(formatNames.map((format) => [format] as const))('a history as %s', (format) => {
  it('gives the rounds of the last turn the keys of every other format', () => {
    const keys = (one: GuestFormat) => historyOf(requestOf(one, turns)).rounds.map(({ key }) => key)
    expect(keys(format)).toEqual(keys('anthropic'))
    expect(keys(format).map((key) => key.slice(-2))).toEqual(['.1', '.2', '.1'])
  })

  it('has the results of each round', () => {
    const { rounds, user } = historyOf(requestOf(format, turns))
    expect(user).toBe('Now the test.')
    expect(rounds.map(({ results }) => results)).toEqual(
      rounds.map(({ key }, at) => [
        {
          key,
          callId: at < 2 ? 'call_2' : 'call_3',
          nth: 0,
          status: 'ok',
          durationMs: 0,
          text: at < 2 ? 'content 2' : 'content 3',
          shown: JSON.stringify({ path: at < 2 ? '2.ts' : '3.ts', depth: 1 }),
        },
      ]),
    )
  })

  it('counts a call that comes twice in a response once, so its result goes to no other call', () => {
    const same = { ...saidCall('read', { n: 1 }, { id: 'c', result: 'one' }) }
    const other = saidCall('read', { n: 2 }, { id: 'c', result: 'two' })
    const said = { text: '', calls: [...same.calls, ...same.calls, ...other.calls] }
    const [round] = historyOf(requestOf(format, [{ user: 'Go.', responses: [said] }])).rounds
    if (round === undefined) throw new Error('no round')
    const recorded = responseOf(round.spoken, round.key).calls
    expect(recorded.map(({ raw }) => JSON.parse(raw))).toEqual([{ n: 1 }, { n: 2 }])
    expect(round.results.map(({ nth }) => nth)).toEqual([0, 1])
  })

  it('gives an answer the key that a later history gives its round', () => {
    const [first, second] = turns
    for (let n = 0; n < 3; n += 1) {
      const before = [first, { ...second, responses: second?.responses.slice(0, n) ?? [] }]
      const request = requestOf(format, before as typeof turns)
      const said = second?.responses[n]
      if (said === undefined) throw new Error('no response')
      const { words, n: count } = answeredRound(answerOf(request, said), historyOf(request))
      expect(`${words}.${count}`).toBe(historyOf(requestOf(format, turns)).rounds[n]?.key)
    }
  })

  it('begins a turn without rounds at a new message of the user', () => {
    const before = historyOf(requestOf(format, turns))
    const after = historyOf(requestOf(format, [...turns, { user: 'Thanks.', responses: [] }]))
    expect(after.rounds).toEqual([])
    expect(after.turnKey).toMatch(/^u3:[0-9a-f]{12}$/)
    expect(after.turnKey).not.toBe(before.turnKey)
  })

  it('shows the end of the turn before as long as its user has no answer', () => {
    const next = { user: 'And the other one?', responses: [] }
    const before = historyOf(requestOf(format, turns))
    const cut = historyOf(requestOf(format, [...turns, next]))
    expect(cut.former?.turnKey).toBe(before.turnKey)
    const shown = cut.former?.rounds.map(({ key, results }) => ({ key, results }))
    expect(shown).toEqual(before.rounds.map(({ key, results }) => ({ key, results })))
    const answered = [...turns, { ...next, responses: [saidText('Yes.')] }]
    expect(historyOf(requestOf(format, answered)).former).toBeUndefined()
    const ended = [{ user: 'Hi.', responses: [saidText('Yes.')] }, next]
    expect(historyOf(requestOf(format, ended)).former).toBeUndefined()
  })

  it('finds the newest result of the turn, the failed ones first', () => {
    expect(newestResultIn(historyOf(requestOf(format, turns)))).toMatchObject({
      tool: 'read',
      line: 'content 3',
    })
    const asked = [{ user: 'Go.', responses: [] }]
    expect(newestResultIn(historyOf(requestOf(format, asked)))).toBeUndefined()
  })

  it('offers the tools of the request, and declares those that a response names', () => {
    const { tools: found, rounds } = historyOf(
      requestOf(format, turns, [...tools, declarationOf('write', '', {})]),
    )
    const round = rounds[0]
    if (round === undefined) throw new Error('no round')
    const { offered, declarations } = toolsFor(round.spoken, found, { read: hints })
    expect(offered).toEqual(['read', 'write'])
    expect(declarations).toEqual([{ ...tools[0], timeoutMs: limits.toolTimeoutMsMax, hints }])
  })

  it("declares the pollers of the host's profile, next to those of the guest's file", () => {
    const { rounds } = historyOf(requestOf(format, turns))
    const round = rounds[0]
    if (round === undefined) throw new Error('no round')
    const pollOf = (poll: boolean, pollers: string[]) =>
      toolsFor(round.spoken, tools, { read: { ...hints, poll } }, pollers).declarations[0]?.poll
    expect(pollOf(false, ['read', 'other'])).toBe(true)
    expect(pollOf(true, ['other'])).toBe(true)
    expect(pollOf(false, ['other'])).toBe(false)
    expect(toolsFor(round.spoken, tools, {}, ['read']).declarations).toMatchObject([{ poll: true }])
  })

  it('makes a response with the key as its attempt', () => {
    const request = requestOf(format, [{ user: 'Go.', responses: [] }])
    const { spoken } = answeredRound(answerOf(request, read(1)), historyOf(request))
    expect(responseOf(spoken, 'k.1')).toMatchObject({
      attempt: 'k.1',
      stop: 'calls',
      text: '',
      calls: [
        { ordinal: 0, id: 'call_1', name: 'read', raw: '{"path":"1.ts","depth":1}', problem: null },
      ],
      textCalls: null,
    })
  })

  it('keeps arguments that are not JSON, in the answer and in the history', () => {
    const broken = saidCall('read', '{"path": "a', { result: 'bad arguments', isError: true })
    const request = requestOf(format, [{ user: 'Go.', responses: [] }])
    const { spoken, words } = answeredRound(answerOf(request, broken), historyOf(request))
    expect(responseOf(spoken, 'k.1').calls[0]).toMatchObject({ problem: 'invalid_json' })
    const later = historyOf(requestOf(format, [{ user: 'Go.', responses: [broken] }]))
    expect(later.rounds[0]?.key).toBe(`${words}.1`)
  })
})

const hints = {
  mutates: false,
  ignoreFields: [],
  loopKey: [],
  denial: null,
  labels: [],
  client: false,
  once: null,
}

describe('a history', () => {
  it('has an unknown user text if its first message is of the model', () => {
    const { body } = requestOf('openai-chat', [{ user: 'x', responses: [read(1)] }])
    const [, ...messages] = (body as { messages: unknown[] }).messages
    const { user, rounds } = historyOf({ format: 'openai-chat', body: { messages } })
    expect([user, rounds.length]).toEqual([null, 1])
  })

  it('has only the last rounds, whose keys count the earlier ones', () => {
    const responses = Array.from({ length: limits.guestKeysMax + 3 }, () => read(1))
    const { rounds } = historyOf(requestOf('anthropic', [{ user: 'Go.', responses }]))
    expect(rounds).toHaveLength(limits.guestKeysMax)
    expect(rounds[0]?.key.split('.')[1]).toBe('4')
    expect(rounds.at(-1)?.key.split('.')[1]).toBe(`${limits.guestKeysMax + 3}`)
  })

  it("leaves out the word that the AI SDK puts before an error's message", () => {
    const failed = saidCall('read', {}, { result: 'Error: no such file', isError: true })
    const { rounds } = historyOf(requestOf('ai-sdk', [{ user: 'Go.', responses: [failed] }]))
    expect(rounds[0]?.results).toMatchObject([{ status: 'error', text: 'no such file' }])
  })

  it('counts equal ids within a round', () => {
    const [call] = read(1, 'same').calls
    if (call === undefined) throw new Error('no call')
    const responses = [
      {
        text: '',
        calls: [call, { ...call, arguments: '{}', result: { text: 'b', isError: true } }],
      },
    ]
    const { rounds } = historyOf(requestOf('openai-chat', [{ user: 'Go.', responses }]))
    expect(rounds[0]?.results.map(({ nth, text }) => [nth, text])).toEqual([
      [0, 'content 1'],
      [1, 'b'],
    ])
  })

  it('marks a call without a result as unknown once the model has gone on', () => {
    const [lost] = saidCall('read', {}, { id: 'lost' }).calls
    if (lost === undefined) throw new Error('no call')
    const both = { text: '', calls: [...read(1).calls, lost] }
    const statuses = (responses: Said[]) =>
      historyOf(requestOf('anthropic', [{ user: 'Go.', responses }])).rounds.map(({ results }) =>
        results.map(({ status }) => status),
      )
    expect(statuses([both])).toEqual([['ok']])
    expect(statuses([both, read(2)])).toEqual([['ok', 'unseen'], ['ok']])
  })

  it('takes the turn of a text whose reminders change as the same turn', () => {
    const keyOf = (reminder: string) =>
      historyOf(
        requestOf('anthropic', [
          { user: `<system-reminder>${reminder}</system-reminder>Go.`, responses: [] },
        ]),
      ).turnKey
    expect(keyOf('one')).toBe(keyOf('two'))
    expect(withoutReminders('<system-reminder>open')).toBe('')
  })

  it('names the tools of a namespace with it, as Codex has them for sub-agents', () => {
    const parameters = { type: 'object', required: ['message'] }
    const tools = [
      { type: 'function', name: 'exec_command', parameters: { type: 'object' } },
      {
        type: 'namespace',
        name: 'multi_agent_v1',
        tools: [{ type: 'function', name: 'spawn_agent', parameters }],
      },
      { type: 'function', name: 'wait', namespace: 'agents', parameters }, // in OpenAI Agents
    ]
    const call = { type: 'function_call', call_id: 'c', name: 'spawn_agent', arguments: '{}' }
    const input = [
      { type: 'message', role: 'user', content: 'Go.' },
      { ...call, namespace: 'multi_agent_v1' },
      { ...call, call_id: 'd', name: 'exec_command', namespace: 'exec_command' }, // found by a search
    ]
    const body = { input, tools }
    const { rounds, tools: found } = historyOf({ format: 'openai-responses', body })
    expect(found?.map(({ name }) => name)).toEqual([
      'exec_command',
      'multi_agent_v1.spawn_agent',
      'agents.wait',
    ])
    const { calls } = responseOf(rounds[0]?.spoken as never, 'k')
    expect(calls.map(({ name }) => name)).toEqual(['multi_agent_v1.spawn_agent', 'exec_command'])
  })

  it('takes the free text of a custom tool as one argument', () => {
    const input = [
      { type: 'message', role: 'user', content: 'Go.' },
      { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
    ]
    const custom = [{ type: 'custom', name: 'apply_patch', description: 'patches' }]
    const { rounds, tools: found } = historyOf({
      format: 'openai-responses',
      body: { input, tools: custom },
    })
    expect(responseOf(rounds[0]?.spoken as never, 'k').calls[0]).toMatchObject({
      raw: '{"input":"*** Begin"}',
      problem: null,
    })
    expect(found?.[0]).toMatchObject({ name: 'apply_patch' })
  })

  it('reads messages of LangChain as objects and in both serialised forms', () => {
    const messages = [
      new HumanMessage('Go.'),
      new AIMessage({
        content: 'I read.',
        tool_calls: [{ id: 'c', name: 'read', args: { path: 'a' } }],
      }),
      new ToolMessage({ content: 'no such file', tool_call_id: 'c', status: 'error' }),
    ]
    const histories = [
      messages,
      JSON.parse(JSON.stringify(messages)) as unknown[],
      mapChatMessagesToStoredMessages(messages),
    ].map((body) => historyOf({ format: 'langchain', body }))
    for (const { rounds, user } of histories) {
      expect(user).toBe('Go.')
      expect(rounds[0]?.key).toBe(histories[0]?.rounds[0]?.key)
      expect(rounds[0]?.results).toMatchObject([
        { callId: 'c', status: 'error', text: 'no such file' },
      ])
    }
  })
})

describe('a command that begins with the folder of Claude Code', () => {
  const keyOf = (command: string, system: string) => {
    const { body } = requestOf('anthropic', [
      { user: 'Go.', responses: [saidCall('Bash', { command }, { id: 'c1', result: '' })] },
    ])
    const request = { body: { ...(body as object), system }, host: 'claude-code' }
    return historyOf({ format: 'anthropic', ...request }).rounds[0]?.key
  }

  it('has the key of the command without it', () => {
    const system = 'You are an agent.\n - Primary working directory: /w  \n - Platform: linux'
    expect(keyOf('cd /w && ls', system)).toBe(keyOf('ls', system))
    expect(keyOf('cd /v && ls', system)).not.toBe(keyOf('ls', system))
  })

  it('is known by a message with instructions too', () => {
    const keyAfter = (command: string) => {
      const { body } = requestOf('anthropic', [
        { user: 'Go.', responses: [saidCall('Bash', { command }, { id: 'c1', result: '' })] },
      ])
      const { messages } = body as { messages: unknown[] }
      const instructions = { role: 'system', content: 'Primary working directory: /w' }
      const request = { body: { messages: [instructions, ...messages] }, host: 'claude-code' }
      return historyOf({ format: 'anthropic', ...request }).rounds[0]?.key
    }
    expect(keyAfter('cd /w && ls')).toBe(keyAfter('ls'))
    expect(keyAfter('cd /v && ls')).not.toBe(keyAfter('ls'))
  })

  it('is read in linear time: a quadratic search does not end in this test', () => {
    const system = `working directory: /w${' '.repeat(1_000_000)}x`
    expect(keyOf('cd /w && ls', system)).not.toBe(keyOf('ls', system))
  })
})

describe('a history that cannot be read', () => {
  it.each([
    ['anthropic', 'x', 'body: is "x"; must be an object'],
    ['anthropic', { messages: {} }, 'body.messages: is a mapping; must be a list'],
    [
      'anthropic',
      { messages: [{ role: 'tool', content: '' }] },
      /^body\.messages\[0\]\.role: is "tool"; must be user or assistant/,
    ],
    [
      'openai-chat',
      { messages: [{ role: 'model' }] },
      /^body\.messages\[0\]\.role: is "model"; must be system/,
    ],
    ['openai-chat', {}, /^body: has neither messages nor input/],
    [
      'openai-responses',
      { input: [{ type: 'function_call', name: 'x' }] },
      'body.input[0].call_id: is missing; must be a text',
    ],
    ['ai-sdk', [{ role: 'robot' }], /^body\.messages\[0\]\.role: is "robot"/],
    ['langchain', [{ type: 'robot' }], /^body\.messages\[0\]: is a message of type "robot"/],
    ['openai-agents', 3, 'body: is 3; must be an object'],
    ['unheard-of' as GuestFormat, [], /^format is "unheard-of"; must be anthropic, /],
  ] as const)('names the place: %s %j', (format, body, message) => {
    expect(() => historyOf({ format, body })).toThrow(
      expect.objectContaining({
        code: 'guest.format',
        message:
          typeof message === 'string'
            ? expect.stringContaining(message)
            : expect.stringMatching(message),
      }),
    )
  })
})
