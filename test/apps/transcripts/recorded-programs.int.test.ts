// The sessions that agent programs record, in the shapes that real runs of them wrote.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { readTranscripts } from '../../../apps/transcripts/read-transcripts.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import type { Json } from '../../../shared/transcript/json-fields.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-programs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(path: string, lines: object[]): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** By conversation: the user's text, then each response as its text or its calls with their results. */
async function read(file: string, format: string, since?: number) {
  const leftOut = createLeftOut()
  const { transcripts, close } = await readTranscripts(file, {
    format,
    idField: undefined,
    leftOut,
    signal: new AbortController().signal,
    read() {},
    ...(since !== undefined && { since }),
  })
  const found = [...transcripts(() => {})]
  close()
  const responses = found.flatMap(({ turns }) => turns.flatMap((turn) => turn.responses))
  const said = found.map(({ conversation, turns }) => [
    conversation,
    turns.flatMap(({ user, responses }) => [
      `user: ${user}`,
      ...responses.map(({ text, calls }) =>
        [
          ...(text === '' ? [] : [text]),
          ...calls.map(({ name, arguments: sent, result }) => {
            if (typeof result !== 'object') return `${name}(${sent}) ${result}`
            return `${name}(${sent}) ${result.isError ? 'fails' : 'ends'}: ${result.text}`
          }),
        ].join(' | '),
      ),
    ]),
  ])
  return { said: Object.fromEntries(said), responses, leftOut: leftOut.lines() }
}

describe('a session of Copilot CLI', () => {
  const at = (second: number) => `2026-11-30T10:29:${second}.000Z`
  const event = (type: string, data: object, agentId?: string) => ({
    type,
    data,
    ...(agentId !== undefined && { agentId }),
    id: 'e',
    timestamp: at(39),
    parentId: 'p',
  })
  const usage = (apiCallId: string, interactionType = 'conversation-agent') =>
    event('session.usage_record', {
      usage: {
        model: 'gpt-5',
        inputTokens: 100,
        outputTokens: 20,
        cacheReadTokens: 60,
        apiCallId,
        interactionType,
      },
    })
  const message = (apiCallId: string, content: string, toolRequests: object[], agentId?: string) =>
    event('assistant.message', { content, toolRequests, apiCallId, model: 'gpt-5' }, agentId)
  const request = (toolCallId: string, name: string, args: object) => ({
    toolCallId,
    name,
    arguments: args,
    type: 'function',
  })
  const lines = [
    event('session.start', { sessionId: 's1', producer: 'copilot-agent' }),
    event('user.message', { content: 'Do it.', transformedContent: '<now/> Do it.' }),
    event('system.message', { role: 'system', content: 'You are a terminal assistant.' }),
    usage('c1'),
    message('c1', 'I look.', [
      request('t1', 'bash', { command: 'echo one' }),
      request('t2', 'bash', { command: 'ls /nowhere' }),
    ]),
    event('tool.execution_start', { toolCallId: 't1', toolName: 'bash' }),
    event('tool.execution_complete', {
      toolCallId: 't1',
      success: true,
      shellExecution: { exitCode: 0 },
      result: { content: 'one' },
    }),
    event('tool.execution_complete', {
      toolCallId: 't2',
      success: true,
      shellExecution: { exitCode: 2 },
      result: { content: 'ls: cannot access' },
    }),
    usage('side', 'title-generation'),
    usage('c2'),
    message('c2', '', [request('t3', 'task', { prompt: 'Sub.' })]),
    event('user.message', { content: 'Sub.', source: 'agent-s1' }, 'a1'),
    message('c3', '', [request('t4', 'nosuch', {})], 'a1'),
    event(
      'tool.execution_complete',
      { toolCallId: 't4', success: false, error: { message: 'does not exist' } },
      'a1',
    ),
    message('c4', 'Sub done.', [], 'a1'),
    event('tool.execution_complete', {
      toolCallId: 't3',
      success: true,
      result: { content: 'Sub done.' },
    }),
    event('user.message', { content: 'Keep going.', source: 'autopilot' }),
    event('a.new_kind', { x: 1 }),
    message('c5', 'All done.', []),
  ]

  it('has its sub-agents after its name, and the failures that exit codes tell', async () => {
    const { said, leftOut } = await read(write('events.jsonl', lines), 'copilot')
    expect(said).toEqual({
      s1: [
        'user: Do it.',
        'I look. | bash({"command":"echo one"}) ends: one | bash({"command":"ls /nowhere"}) fails: ls: cannot access',
        'task({"prompt":"Sub."}) ends: Sub done.',
        'All done.',
      ],
      's1/a1': ['user: Sub.', 'nosuch({}) fails: does not exist', 'Sub done.'],
    })
    expect(leftOut.join('\n')).toContain('a line of type a.new_kind')
    expect(leftOut.join('\n')).toContain('a message that the runtime wrote')
  })

  it('has the model and the tokens of each response, and no response of a side request', async () => {
    const { responses } = await read(write('events.jsonl', lines), 'copilot')
    expect(responses).toHaveLength(5)
    expect(responses[0]).toMatchObject({
      model: { name: 'gpt-5' },
      usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: 60 },
    })
  })
})

describe('a session of Gemini CLI', () => {
  const head = { sessionId: 'g1', projectHash: 'h', kind: 'main', startTime: 't' }
  const user = (id: string, text: string) => ({ id, type: 'user', content: [{ text }] })
  const call = (id: string, command: string, output: string, status = 'success') => ({
    id,
    name: 'run_shell_command',
    args: { command },
    status,
    timestamp: '2026-11-30T10:29:39.000Z',
    result: [{ functionResponse: { id, name: 'run_shell_command', response: { output } } }],
  })
  const tokens = { input: 100, output: 20, cached: 60, thoughts: 5, tool: 0, total: 125 }
  const answer = (id: string, content: string, more: object = {}) => ({
    id,
    type: 'gemini',
    content,
    model: 'gemini-2.5-pro',
    tokens,
    ...more,
  })
  const lines = [
    head,
    user('m1', '/memory show'),
    { id: 'i1', type: 'info', content: 'Memory is empty.' },
    user('m2', 'Do it.'),
    answer('m3', 'I look.'),
    { $set: { lastUpdated: 't' } },
    answer('m3', 'I look.', {
      thoughts: [{ subject: 'Plan', description: 'look' }],
      toolCalls: [call('t1', 'ls', 'a b'), call('t2', 'make', 'no rule', 'error')],
    }),
    user('m4', 'A wrong way.'),
    answer('m5', 'Wrong.'),
    { $rewindTo: 'm4' },
    answer('m6', 'Done.'),
  ]
  const told = [
    'user: Do it.',
    'I look. | run_shell_command({"command":"ls"}) ends: a b | run_shell_command({"command":"make"}) fails: no rule',
    'Done.',
  ]

  it('replaces a message by the later line with its id, and drops messages that were taken back', async () => {
    const { said, responses } = await read(write('chats/session-1.jsonl', lines), 'gemini-cli')
    expect(said).toEqual({ g1: told })
    expect(responses[0]).toMatchObject({
      model: { name: 'gemini-2.5-pro', provider: 'google' },
      usage: { inputTokens: 40, outputTokens: 25, cacheReadTokens: 60 },
      calls: [{ result: { at: Date.UTC(2026, 10, 30, 10, 29, 39) } }, {}],
    })
  })

  it('begins anew with a line that has all messages', async () => {
    const file = write('chats/session-1.jsonl', [
      ...lines,
      { $set: { messages: [user('m2', 'Do it.'), answer('m3', 'Shorter.')] } },
      user('m7', 'More.'),
      answer('m8', 'More follows.'),
    ])
    expect((await read(file, 'gemini-cli')).said).toEqual({
      g1: ['user: Do it.', 'Shorter.', 'user: More.', 'More follows.'],
    })
  })

  it('belongs to the session whose folder has it if a sub-agent wrote it', async () => {
    const child = [{ ...head, sessionId: 'c1', kind: 'subagent' }, ...lines.slice(3, 5)]
    const { said } = await read(write('chats/g1/c1.jsonl', child), 'gemini-cli')
    expect(Object.keys(said)).toEqual(['g1/c1'])
  })

  it('is also read from the single object of older versions', async () => {
    const messages = [lines[3], lines[6], lines[10]] as object[]
    const file = write('chats/session-1.json', [{ ...head, messages }])
    expect((await read(file, 'gemini-cli')).said).toEqual({ g1: told })
  })
})

describe('a session of OpenCode', () => {
  const tokens = { input: 40, output: 15, reasoning: 5, cache: { read: 60, write: 0 } }
  const step = (...parts: object[]) => [
    { type: 'step-start' },
    ...parts,
    { type: 'step-finish', reason: 'tool-calls', tokens, cost: 0 },
  ]
  const tool = (callID: string, name: string, input: object, state: object) => ({
    type: 'tool',
    tool: name,
    callID,
    state: { input, time: { start: 1, end: 2 }, ...state },
  })
  const assistant = { role: 'assistant', modelID: 'claude-sonnet-4-5', providerID: 'anthropic' }
  const messages = [
    { info: { role: 'user' }, parts: [{ type: 'text', text: 'Do it.' }] },
    {
      info: assistant,
      parts: step(
        { type: 'text', text: 'I look.' },
        tool(
          't1',
          'bash',
          { command: 'ls' },
          { status: 'completed', output: 'a b', metadata: { exit: 0 } },
        ),
        tool(
          't2',
          'bash',
          { command: 'make' },
          { status: 'completed', output: 'no rule', metadata: { exit: 2 } },
        ),
      ),
    },
    {
      info: assistant,
      parts: step(
        { type: 'reasoning', text: 'hm' },
        tool('t3', 'read', {}, { status: 'error', error: 'no path' }),
        { type: 'a-new-part' },
      ),
    },
    {
      info: assistant,
      parts: step(
        tool(
          't4',
          'invalid',
          { tool: 'nosuch', error: 'x' },
          { status: 'completed', output: 'unavailable tool', metadata: {} },
        ),
      ),
    },
    { info: { ...assistant, summary: true }, parts: step({ type: 'text', text: 'Summary.' }) },
    {
      info: { role: 'user' },
      parts: [{ type: 'text', text: 'Continue if you have next steps.', synthetic: true }],
    },
    { info: assistant, parts: step({ type: 'text', text: 'Done.' }) },
  ]
  const told = [
    'user: Do it.',
    'I look. | bash({"command":"ls"}) ends: a b | bash({"command":"make"}) fails: no rule',
    'read({}) fails: no path',
    'nosuch({"tool":"nosuch","error":"x"}) fails: unavailable tool',
    'Done.',
  ]

  /** As OpenCode 1.18 makes its tables, without the columns that nobody reads. */
  function database(sessions: { id: string; parent: string | null; updated: number }[]): string {
    const file = join(folder, 'opencode.db')
    const db = new DatabaseSync(file)
    db.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, time_created integer, time_updated integer);
      CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
      CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);`)
    for (const { id, parent, updated } of sessions) {
      db.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?)').run(
        ...[id, parent, '/shop', updated, updated],
      )
      for (const [at, { info, parts }] of messages.entries()) {
        const message = `${id}-${at}`
        db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(
          ...[message, id, at, JSON.stringify(info)],
        )
        for (const [n, part] of parts.entries())
          db.prepare('INSERT INTO part VALUES (?, ?, ?, ?)').run(
            ...[`${message}-${n}`, message, id, JSON.stringify(part)],
          )
      }
    }
    db.close()
    return file
  }

  it('is read from the export of one session', async () => {
    const file = join(folder, 'export.json')
    writeFileSync(file, JSON.stringify({ info: { id: 'ses_1' }, messages }))
    const { said, responses, leftOut } = await read(file, 'opencode')
    expect(said).toEqual({ export: told })
    expect(responses[0]).toMatchObject({
      model: { name: 'claude-sonnet-4-5', provider: 'anthropic' },
      usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: 60 },
      calls: [{ result: { at: 2 } }, {}],
    })
    expect(leftOut.join('\n')).toContain('a part of type a-new-part')
  })

  it('is read from the database with its sub-agents, and nothing is written next to it', async () => {
    const file = database([
      { id: 'ses_1', parent: null, updated: 1 },
      { id: 'ses_2', parent: 'ses_1', updated: 2 },
    ])
    const before = readdirSync(folder)
    expect((await read(file, 'opencode')).said).toEqual({ ses_1: told, 'ses_1/ses_2': told })
    expect(readdirSync(folder)).toEqual(before)
  })

  it('is left out if it did not change since a time', async () => {
    const file = database([
      { id: 'ses_1', parent: null, updated: 1 },
      { id: 'ses_2', parent: null, updated: 9 },
    ])
    expect(Object.keys((await read(file, 'opencode', 5)).said)).toEqual(['ses_2'])
  })

  it('is an error that names the cause if another program made the database', async () => {
    const file = join(folder, 'other.db')
    const db = new DatabaseSync(file)
    db.exec('CREATE TABLE a (b)')
    db.close()
    await expect(read(file, 'opencode')).rejects.toThrow('has no sessions: no such table: session')
  })
})

describe('a session of Codex', () => {
  const line = (type: string, payload: object) => ({ timestamp: 't', type, payload })
  const usage = { input_tokens: 100, cached_input_tokens: 60, output_tokens: 20 }
  const lines = [
    line('session_meta', { session_id: 's1', id: 'a1', source: { subagent: {} } }),
    line('session_meta', { session_id: 's0', id: 's0' }),
    line('turn_context', { model: 'gpt-5' }),
    line('response_item', {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '<environment_context>\n  <cwd>/</cwd>' }],
    }),
    line('response_item', { type: 'message', role: 'user', content: 'Do it.' }),
    line('response_item', { type: 'function_call', call_id: 'a', name: 'shell', arguments: '{}' }),
    line('token_usage_record', { usage }),
    line('response_item', { type: 'tool_search_output', call_id: 'x', tools: [] }),
    line('response_item', { type: 'function_call_output', call_id: 'a', output: 'ok' }),
    line('event_msg', { type: 'token_count', info: { last_token_usage: usage } }),
    line('response_item', { type: 'message', role: 'assistant', content: 'Done.' }),
    line('event_msg', { type: 'token_count', info: { last_token_usage: usage } }),
  ]

  it('belongs to the session that its first line names, with the model and the tokens', async () => {
    const { said, responses } = await read(write('rollout.jsonl', lines), 'codex')
    expect(said).toEqual({ 's1/a1': ['user: Do it.', 'shell({}) ends: ok', 'Done.'] })
    const each = {
      model: { name: 'gpt-5', provider: 'openai' },
      usage: { inputTokens: 40, outputTokens: 20, cacheReadTokens: 60 },
    }
    expect(responses).toMatchObject([each, each])
  })

  it('names its parent in the source in older versions', async () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: 's9', depth: 1 } } }
    const file = write('rollout.jsonl', [
      line('session_meta', { id: 'a1', source }),
      ...lines.slice(4),
    ])
    expect(Object.keys((await read(file, 'codex')).said)).toEqual(['s9/a1'])
  })

  it('is no session of another program', async () => {
    const file = write('rollout.jsonl', lines)
    await expect(read(file, 'claude-code')).rejects.toThrow('no transcript found')
  })

  it('goes on after an item of an unknown kind, which is counted', async () => {
    const { leftOut } = await read(write('rollout.jsonl', lines), 'codex')
    expect(leftOut.join('\n')).toContain('is "tool_search_output"')
  })
})

/** A trimmed session of a real run. */
function recorded(name: string): string {
  return readFileSync(new URL(`../../fuzz/corpus/sessions/${name}`, import.meta.url), 'utf8')
}

function insert(db: DatabaseSync, table: string, row: Record<string, unknown>): void {
  const names = Object.keys(row)
  db.prepare(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  ).run(...(Object.values(row) as (string | number | null | Uint8Array)[]))
}

describe('a session of Cline', () => {
  const told = [
    'user: Do the task.',
    'I look. | run_commands({"commands":["echo one"]}) ends: [{"query":"echo one","result":"one\\n","success":true}]',
    expect.stringMatching(/^run_commands\(.*fails: .*run_commands\(.*ends: /),
    expect.stringContaining('nosuch({"a":1}) fails: '),
    expect.stringContaining('run_commands({"commands":["exit 3"]}) fails: '),
    expect.stringContaining('submit_and_exit('),
  ]

  it('has the question without its wrapping, and the times, tokens and failures of its calls', async () => {
    const file = join(folder, 's.messages.json')
    writeFileSync(file, recorded('cline.messages.json'))
    const { said, responses, leftOut } = await read(file, 'cline')
    expect(said).toEqual({ '1796093635137_1g4td': told })
    expect(responses[0]).toMatchObject({
      model: { name: 'scripted', provider: 'openai-compatible' },
      usage: { inputTokens: 100, outputTokens: 20 },
      calls: [{ result: { at: 1_796_093_638_167 } }],
    })
    expect(leftOut).toEqual([])
  })

  it('belongs to the session that started it if a sub-agent wrote it, and has no summaries', async () => {
    const session = JSON.parse(recorded('cline.messages.json'))
    session.messages.push({
      ...session.messages[0],
      metadata: { kind: 'compaction_summary' },
    })
    session.sessionId = 's1__agent_2'
    const { said, leftOut } = await read(write('a.messages.json', [session]), 'cline')
    expect(said).toEqual({ 's1/agent_2': told })
    expect(leftOut.join('\n')).toContain('a summary that the runtime asked for')
  })
})

describe('a session of Hermes', () => {
  /** As Hermes 0.19 makes its tables, without the columns that nobody reads. */
  function database(config: string | null, archived = 0): string {
    const file = join(folder, 'state.db')
    const db = new DatabaseSync(file)
    db.exec(`CREATE TABLE sessions (id TEXT PRIMARY KEY, model TEXT, model_config TEXT, cwd TEXT,
        billing_provider TEXT, started_at REAL NOT NULL, ended_at REAL);
      CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
        tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT,
        reasoning_content TEXT, observed INTEGER, active INTEGER, compacted INTEGER);`)
    insert(db, 'sessions', {
      ...{ id: 'h1', model: 'scripted', model_config: config, cwd: '/shop' },
      ...{ billing_provider: 'custom', started_at: 10, ended_at: null },
    })
    const { messages } = JSON.parse(recorded('hermes.json'))
    const rows = messages.map(({ id, cwd, model, provider, parent, ...row }: Json) => row)
    const summary = { ...rows[0], content: '[CONTEXT COMPACTION] Earlier.', timestamp: 2e9 }
    const kept = rows.slice(0, archived)
    for (const row of kept)
      insert(db, 'messages', { ...row, session_id: 'h1', active: 0, compacted: 1 })
    const live = archived === 0 ? rows : [summary, ...rows.slice(archived - 2)]
    for (const row of live)
      insert(db, 'messages', { ...row, session_id: 'h1', active: 1, compacted: 0 })
    const undone = { ...rows[0], content: 'Undone.', active: 0, compacted: 0 }
    insert(db, 'messages', { ...undone, session_id: 'h1' })
    db.close()
    return file
  }
  const told = [
    'user: Do the task.',
    expect.stringContaining('I look. | terminal({"command":"echo one"}) ends: '),
    expect.stringMatching(/^terminal\(.*fails: .*terminal\(.*ends: /),
    expect.stringContaining('nosuch({"a":1}) fails: '),
    expect.stringContaining('terminal({"command":"exit 3"}) fails: '),
    'All done.',
  ]

  it('is read from its database, with the failures that exit codes tell, and nothing taken back', async () => {
    const { said, responses } = await read(database(null), 'hermes')
    expect(said).toEqual({ h1: told })
    expect(responses[0]).toMatchObject({
      model: { name: 'scripted', provider: 'custom' },
      calls: [{ result: { at: expect.closeTo(1_796_093_944_382.6, 0) } }],
    })
  })

  it('counts the messages that a compaction keeps once, and not its summary', async () => {
    const { said, leftOut } = await read(database('{"_delegate_from":', 6), 'hermes')
    expect(said).toEqual({ h1: told })
    expect(leftOut.join('\n')).toContain('a summary that the runtime asked for')
  })

  it('keeps equal messages and calls that follow a compaction, and no copy of two compactions', async () => {
    const file = database('{}')
    const db = new DatabaseSync(file)
    db.exec('DELETE FROM messages')
    let at = 10
    const write = (row: Json, isLive: boolean) => {
      at += 1
      insert(db, 'messages', {
        ...{ session_id: 'h1', tool_call_id: null, tool_calls: null, tool_name: null },
        ...{ timestamp: at, finish_reason: null, reasoning_content: null, observed: 0 },
        ...{ active: isLive ? 1 : 0, compacted: isLive ? 0 : 1, ...row },
      })
    }
    const user = (content: string) => ({ role: 'user', content })
    const reply = (content: string) => ({ role: 'assistant', content })
    // The ids of some local models begin anew in each answer.
    const call = [
      {
        ...reply(''),
        tool_calls: JSON.stringify([
          { id: 'call_0', type: 'function', function: { name: 'look', arguments: '{}' } },
        ]),
      },
      { role: 'tool', content: 'nothing', tool_call_id: 'call_0', tool_name: 'look' },
    ]
    const summary = user('[CONTEXT COMPACTION] Earlier.')
    const first = [user('Begin.'), reply('I begin.'), user('go on'), ...call, reply('Half.')]
    const kept = [...first.slice(0, 2), summary, ...first.slice(3)]
    const second = [user('go on'), ...call, user('go on'), reply('Half.')]
    for (const row of [...first, ...kept, ...second]) write(row, false)
    const last = [summary, ...second.slice(3)]
    for (const row of [...last, user('go on'), ...call, reply('Done.')]) write(row, true)
    db.close()
    const { said, responses } = await read(file, 'hermes')
    const looks = expect.stringContaining('look({}) ends: ')
    expect(said).toEqual({
      h1: [
        ...['user: Begin.', 'I begin.', 'user: go on', looks, 'Half.'],
        ...['user: go on', looks, 'user: go on', 'Half.'],
        ...['user: go on', looks, 'Done.'],
      ],
    })
    expect(responses.flatMap(({ calls }) => calls)).toHaveLength(3)
  })

  it('belongs to the session that delegated to it', async () => {
    const { said } = await read(database('{"_delegate_from":"h0"}'), 'hermes')
    expect(Object.keys(said)).toEqual(['h0/h1'])
  })

  it('is left out if it did not change since a time', async () => {
    const since = 1_796_093_949_683
    expect(Object.keys((await read(database(null), 'hermes', since)).said)).toEqual(['h1'])
    rmSync(join(folder, 'state.db'))
    await expect(read(database(null), 'hermes', since + 1_000)).rejects.toThrow()
  })
})

describe('a session of OpenClaw', () => {
  const id = 'ff646ffd-5809-4409-a87c-39db40744d12'
  const told = [
    'user: Do the task.',
    expect.stringContaining('I look. | exec({"command":"echo one"}) '),
    expect.stringMatching(/^exec\(.*fails: [^|]* \| exec\(\{"command":"echo two"\}\) ends: two/),
    'No such tool next.',
  ]
  const events: Json[] = recorded('openclaw.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

  /** As OpenClaw 2026.9 makes its tables, without the columns that nobody reads. */
  function database(spawnedBy: string | null): string {
    const file = join(folder, 'openclaw-agent.sqlite')
    const db = new DatabaseSync(file)
    db.exec(`CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, spawned_by TEXT) STRICT;
      CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER,
        updated_at INTEGER, spawned_by TEXT) STRICT;
      CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
        PRIMARY KEY (session_id, seq)) STRICT;`)
    const times = { created_at: 1, updated_at: 2 }
    insert(db, 'session_windows', { session_id: 'p1', session_key: 'agent:main:main', ...times })
    insert(db, 'session_nodes', { session_key: 'agent:main:subagent:1', spawned_by: spawnedBy })
    insert(db, 'session_windows', {
      session_id: id,
      session_key: 'agent:main:subagent:1',
      ...times,
    })
    for (const [seq, event] of events.entries()) {
      const text = JSON.stringify(event)
      const packed = seq % 2 === 0 ? { event_json: text } : { event_zstd: zstdCompressSync(text) }
      insert(db, 'transcript_events', { session_id: id, seq, ...packed })
    }
    insert(db, 'transcript_events', { session_id: id, seq: 99, event_zstd: Buffer.from('damaged') })
    db.close()
    return file
  }

  it('is read from the database of its agent, also its packed events', async () => {
    const { said, responses } = await read(database(null), 'openclaw')
    expect(said).toEqual({ [id]: told })
    expect(responses[0]).toMatchObject({
      model: { name: 'scripted', provider: 'scripted' },
      usage: { inputTokens: 100, outputTokens: 20 },
    })
  })

  it('belongs to the session that spawned it', async () => {
    const { said } = await read(database('agent:main:main'), 'openclaw')
    expect(Object.keys(said)).toEqual([`p1/${id}`])
  })

  it('is also read from the lines of older versions, without the branches that were left', async () => {
    const branch = events.map((event) => event.id).indexOf(events.at(-1)?.parentId)
    const left = { ...events[5], id: 'left', parentId: events[4]?.id }
    const lines = [...events.slice(0, branch), left, ...events.slice(branch)]
    const file = write('sessions/s.jsonl', [
      ...lines,
      { ...events[1], type: 'a-new-kind', id: 'n', parentId: events.at(-1)?.id },
    ])
    const { said, leftOut } = await read(file, 'openclaw')
    expect(said).toEqual({ [id]: told })
    expect(leftOut.join('\n')).toContain('an event of type a-new-kind')
  })
})
