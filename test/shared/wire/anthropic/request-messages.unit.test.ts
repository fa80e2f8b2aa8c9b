import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Call, CallResult, HistoryEntry } from '../../../../shared/contract/messages.ts'
import { conversationMessages } from '../../../../shared/wire/anthropic/request.ts'
import { call, modelSays, result, userSays } from '../../../services/llm-gateway/samples.ts'

type Blocks = Record<string, unknown>[]
const messagesOf = (...history: HistoryEntry[]) =>
  conversationMessages(history) as unknown as { role: string; content: Blocks }[]
const text = (words: string) => ({ type: 'text', text: words })
const toolUse = (id: string, fields: object = {}) => ({
  type: 'tool_use',
  id,
  name: 'read',
  input: { path: 'x' },
  ...fields,
})
const toolResult = (id: string, fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'done',
  ...fields,
})

describe('a conversation', () => {
  it("contains the user's and the model's texts, the calls and their results", () => {
    const history = [
      userSays('read x'),
      modelSays({ text: 'I will.', calls: [call()] }, { results: [result()] }),
      modelSays({ text: 'It says x.' }, { round: 2 }),
      userSays('thanks', { turn: 9 }),
    ]
    expect(messagesOf(...history)).toEqual([
      { role: 'user', content: [text('read x')] },
      { role: 'assistant', content: [text('I will.'), toolUse('toolu_1')] },
      { role: 'user', content: [toolResult('toolu_1')] },
      { role: 'assistant', content: [text('It says x.')] },
      { role: 'user', content: [text('thanks')] },
    ])
  })

  it('has the thinking blocks exactly as they were sent, before everything else', () => {
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 's', extra: [1] },
      { type: 'redacted_thinking', data: 'd' },
    ]
    const [, assistant] = messagesOf(
      userSays('x'),
      modelSays({ reasoning: JSON.stringify(blocks), text: 'a', calls: [call()] }),
    )
    expect(assistant?.content.slice(0, 2)).toEqual(blocks)
    expect(assistant?.content[2]).toEqual(text('a'))
  })

  it('says every result that is not ok as an error', () => {
    const statuses = ['ok', 'error', 'denied', 'timed_out', 'skipped', 'unknown'] as const
    const calls = statuses.map((_, ordinal) => call({ ordinal, id: `t${ordinal}` }))
    const results = statuses.map((status, ordinal) => result({ ordinal, status }))
    const [, , user] = messagesOf(
      userSays('x'),
      modelSays({ calls }, { results: results.toReversed() }),
    )
    expect(user?.content).toEqual(
      statuses.map((status, n) => toolResult(`t${n}`, status === 'ok' ? {} : { is_error: true })),
    )
  })

  it('has a result also for a call whose result is missing, and none for a call that was never made', () => {
    const [, , user] = messagesOf(
      userSays('x'),
      modelSays({ calls: [call()] }, { results: [result({ ordinal: 5 })] }),
    )
    expect(user?.content).toEqual([
      toolResult('toolu_1', { content: expect.stringContaining('not known'), is_error: true }),
    ])
  })

  it('joins consecutive user texts into one message, also after results', () => {
    const ended = [userSays('a'), modelSays({ calls: [call()] }, { results: [result()] })]
    expect(
      messagesOf(...ended, userSays('b', { turn: 1 }), userSays('c', { turn: 2 })).at(-1),
    ).toEqual({
      role: 'user',
      content: [toolResult('toolu_1'), text('b'), text('c')],
    })
  })

  it('tells the note of a round that has no response, such as that its calls may have run', () => {
    const failed: HistoryEntry = {
      ...userSays(''),
      user: null,
      round: 1,
      note: 'Calls made in it may have run.',
    }
    expect(messagesOf(userSays('a'), failed, userSays('b', { turn: 1 }))).toEqual([
      { role: 'user', content: [text('a'), text('(Calls made in it may have run.)'), text('b')] },
    ])
  })

  it('leaves out rounds that failed without a note and responses without a visible word or call', () => {
    const failed: HistoryEntry = { ...userSays(''), user: null, round: 1 }
    const thinkingOnly = modelSays(
      { reasoning: '[{"type":"thinking","thinking":"hm","signature":"s"}]', text: ' \n' },
      { round: 2 },
    )
    expect(messagesOf(userSays('a'), failed, thinkingOnly)).toEqual([
      { role: 'user', content: [text('a')] },
    ])
  })

  it("ends with the user, so the provider does not continue the model's last message", () => {
    const messages = messagesOf(
      userSays('a'),
      modelSays({ text: 'one' }),
      modelSays({ text: 'two' }, { round: 2 }),
    )
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
  })

  it('has no blank text of the user', () => {
    expect(messagesOf(userSays(' '))[0]?.content).toEqual([text('(The message was empty.)')])
  })
})

describe('a call in the history', () => {
  const inputOf = (fields: Partial<Call>) =>
    messagesOf(userSays('a'), modelSays({ calls: [call(fields)] }))[1]?.content[0]?.input

  it.each([
    ['', {}],
    ['{"a": 1, "__proto__": {"b": 2}}', JSON.parse('{"a": 1, "__proto__": {"b": 2}}')],
    ['{"a":', {}],
    ['[1]', {}],
    ['"text"', {}],
    ['null', {}],
    ['['.repeat(100_000), {}],
    [`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, {}],
    // Some providers read at most a thousand levels, and a history is sent in every later request.
    [`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, {}],
    ['{"a":"\\ud83d"}', { a: '\ufffd' }],
    ['{"\\udfff":{"\\ud83d":"\\ud83d"}}', { '\ufffd': { '\ufffd': '\ufffd' } }],
  ])('with arguments %.20s', (raw, input) => {
    expect(inputOf({ raw })).toEqual(input)
  })

  it.each([
    ['{"id":12345678901234567890,"pi":3.10,"small":1e-7,"ids":[9007199254740993]}', undefined],
    ['{"huge":1e999,"least":-1e999}', '{"huge":null,"least":null}'],
  ])('has the numbers that the model wrote, as far as anybody can read them: %s', (raw, sent) => {
    expect(JSON.stringify(inputOf({ raw }))).toBe(sent ?? raw)
  })

  it.each([
    ['wéird.name!', 'w_ird_name_'],
    ['', '_'],
    ['x'.repeat(500), 'x'.repeat(128)],
  ])('has a name that is taken back: %.20s', (name, usable) => {
    expect(
      messagesOf(userSays('a'), modelSays({ calls: [call({ name })] }))[1]?.content[0]?.name,
    ).toBe(usable)
  })

  it('keeps its id unless that cannot stand: missing, in a foreign form, or used before', () => {
    const calls = ['toolu_1', '', 'functions.read:0', 'toolu_1', 'call_0_1_1'].map((id, ordinal) =>
      call({ ordinal, id }),
    )
    const [, assistant, user] = messagesOf(userSays('a'), modelSays({ calls }))
    const ids = ['toolu_1', 'call_0_1_1', 'call_0_1_2', 'call_0_1_3', 'call_0_1_4']
    expect(assistant?.content.map(({ id }) => id)).toEqual(ids)
    expect(user?.content.map(({ tool_use_id }) => tool_use_id)).toEqual(ids)
  })
})

// Histories as they may be, and as they should not be: ids that repeat, calls without results,
// results without calls, gaps.

const word = fc.constantFrom('', ' ', 'word', '\ud83d', 'a longer text')
const someCall = fc.record({
  id: fc.constantFrom('', 't1', 't2', 'a.b:0', 'call_0_1_0', 'call_1_2_1'),
  name: word,
  raw: fc.constantFrom('', '{}', '{"a":1}', '{"a":', '[]'),
})
const someResults = fc.array(
  fc.record({
    ordinal: fc.nat(4),
    status: fc.constantFrom('ok' as const, 'error' as const),
    text: word,
  }),
  {
    maxLength: 5,
  },
)
const someRound = fc.record({
  text: word,
  reasoning: fc.constantFrom(
    '',
    '[{"type":"thinking","thinking":"hm","signature":"s"}]',
    'no json',
  ),
  calls: fc.option(fc.array(someCall, { maxLength: 4 }), { nil: undefined }),
  results: someResults,
})
const someHistory = fc
  .array(fc.record({ user: word, rounds: fc.array(someRound, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((turns) =>
    turns.flatMap(({ user, rounds }, turn): HistoryEntry[] => [
      userSays(user, { turn }),
      ...rounds.map(({ text, reasoning, calls, results }, n) => {
        const entry = modelSays(
          {
            text,
            reasoning,
            calls: (calls ?? []).map((fields, ordinal) => call({ ...fields, ordinal })),
          },
          { turn, round: n + 1, results: results.map((fields): CallResult => result(fields)) },
        )
        return calls === undefined ? { ...entry, response: null } : entry
      }),
    ]),
  )

describe('any history', () => {
  it('every tool_use has exactly one tool_result, in the next message and in order, and ids are unique (I5.4)', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        const messages = messagesOf(...history)
        const used: unknown[] = []
        for (const [n, { role, content }] of messages.entries()) {
          const uses = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
          const results = content
            .filter(({ type }) => type === 'tool_result')
            .map(({ tool_use_id }) => tool_use_id)
          const before = (messages[n - 1]?.content ?? [])
            .filter(({ type }) => type === 'tool_use')
            .map(({ id }) => id)
          expect(results).toEqual(role === 'user' ? before : [])
          if (role === 'user') expect(uses).toEqual([])
          // A provider wants the results before anything else that the user says.
          expect(content.slice(0, results.length).every(({ type }) => type === 'tool_result')).toBe(
            true,
          )
          used.push(...uses)
        }
        expect(new Set(used).size).toBe(used.length)
        for (const id of used) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
      }),
    )
  })

  it('the user speaks first and last, they take turns, and nothing is blank or half a character', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        const messages = messagesOf(...history)
        expect(messages.map(({ role }) => role)).toEqual(
          messages.map((_, n) => (n % 2 === 0 ? 'user' : 'assistant')),
        )
        expect(messages.at(-1)?.role).toBe('user')
        for (const { content } of messages) {
          expect(content.length).toBeGreaterThan(0)
          expect(content.at(-1)?.type).not.toBe('thinking')
          for (const block of content)
            if (block.type === 'text') expect(String(block.text).trim()).not.toBe('')
        }
        expect(JSON.stringify(messages)).not.toContain('\\ud83d"')
      }),
    )
  })

  it('more entries only add to the end, so that the prompt cache holds', () => {
    fc.assert(
      fc.property(someHistory, fc.nat(20), (history, cut) => {
        const blocks = (entries: HistoryEntry[]) =>
          messagesOf(...entries).flatMap(({ role, content }) =>
            content.map((block) => JSON.stringify([role, block])),
          )
        const goOn = JSON.stringify(['user', text('Please continue.')])
        const some = blocks(history.slice(0, 1 + (cut % history.length)))
        const kept = some.at(-1) === goOn ? some.slice(0, -1) : some
        expect(blocks(history).slice(0, kept.length)).toEqual(kept)
      }),
    )
  })
})
