import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Call, CallResult, HistoryEntry } from '../../../../../shared/contract/messages.ts'
import { conversationMessages } from '../../../../../shared/wire/anthropic/request.ts'
import { chatMessages } from '../../../../../shared/wire/openai-chat/request/messages.ts'
import { call, modelSays, result, userSays } from '../../../../services/llm-gateway/samples.ts'

type Message = {
  role: string
  content: string | null
  tool_calls?: ToolCall[]
  tool_call_id?: string
} & Record<string, unknown>
type ToolCall = {
  id: string
  type: string
  function: { name: string; arguments: string }
} & Record<string, unknown>

const messagesOf = (...history: HistoryEntry[]) =>
  chatMessages(
    history,
    { model: 'some-model', refused: 'none' },
    { nineCharacterIds: false, rebuilt: false },
  ) as unknown as Message[]
const toolCall = (id: string, fields: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: '{"path":"x"}', ...fields },
})
const noAnswer = { role: 'assistant', content: '(This was left without an answer.)' }

/** The reason why a server would refuse the history, as far as known (I5.4). */
function historyFault(messages: Message[]): string | undefined {
  const ids = new Set<string>()
  let open: string[] = []
  for (const [
    n,
    { role, content, tool_calls: calls = [], tool_call_id: id },
  ] of messages.entries()) {
    const before = messages[n - 1]?.role
    if (role === 'tool') {
      if (id !== open.shift()) return `message ${n} is the result of another call, or comes again`
    } else if (open.length > 0) return `message ${n} comes before the results of ${open}`
    if (role === 'user' && (before === 'user' || before === 'tool'))
      return `message ${n} is the user's, after the ${before}'s`
    if (role === 'assistant' && before === 'assistant')
      return `message ${n} is the assistant's, after another of it`
    if (role !== 'tool' && !content?.trim() && calls.length === 0) return `message ${n} is blank`
    if (!content?.isWellFormed() && content !== null) return `message ${n} has half a character`
    for (const { id, function: made } of calls) {
      if (!/^[\x21-\x7e]{1,40}$/.test(id)) return `the id ${id} has a foreign form`
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(made.name))
        return `the name ${made.name} has a foreign form`
      if (ids.has(id)) return `the id ${id} is used twice`
      ids.add(id)
      const read: unknown = JSON.parse(made.arguments)
      if (typeof read !== 'object' || read === null || Array.isArray(read))
        return `the arguments ${made.arguments} are no object`
    }
    if (role === 'assistant') open = calls.map((made) => made.id)
  }
  if (open.length > 0) return `nothing comes after the calls ${open}`
  if (messages[0]?.role !== 'user') return 'the user does not speak first'
  return messages.at(-1)?.role === 'assistant' ? 'the assistant speaks last' : undefined
}

describe('a conversation', () => {
  it("contains the user's and the model's texts, the calls and their results", () => {
    const history = [
      userSays('read x'),
      modelSays({ text: 'I will.', calls: [call()] }, { results: [result()] }),
      modelSays({ text: 'It says x.' }, { round: 2 }),
      userSays('thanks', { turn: 9 }),
    ]
    expect(messagesOf(...history)).toEqual([
      { role: 'user', content: 'read x' },
      { role: 'assistant', content: 'I will.', tool_calls: [toolCall('toolu_1')] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'done' },
      { role: 'assistant', content: 'It says x.' },
      { role: 'user', content: 'thanks' },
    ])
  })

  it('has one tool message for each call, in order, also where a result is missing', () => {
    const calls = [0, 1].map((ordinal) => call({ ordinal, id: `t${ordinal}` }))
    const messages = messagesOf(
      userSays('x'),
      modelSays({ calls }, { results: [result({ ordinal: 1, status: 'error', text: 'broken' })] }),
    )
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: [toolCall('t0'), toolCall('t1')] },
      { role: 'tool', tool_call_id: 't0', content: expect.stringContaining('not known') },
      { role: 'tool', tool_call_id: 't1', content: 'broken' },
    ])
  })

  it('separates results from a user message, which some servers refuse in a row', () => {
    const capped = modelSays({ calls: [call()] }, { results: [result()] })
    expect(messagesOf(userSays('a'), capped, userSays('b', { turn: 1 })).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'toolu_1', content: 'done' },
      noAnswer,
      { role: 'user', content: 'b' },
    ])
  })

  it('joins consecutive user texts, with the note of a round without a response', () => {
    const failed: HistoryEntry = {
      ...userSays(''),
      user: null,
      round: 1,
      note: 'Calls made in it may have run.',
    }
    expect(messagesOf(userSays('a'), failed, userSays('b', { turn: 1 }))).toEqual([
      { role: 'user', content: 'a\n\n(Calls made in it may have run.)\n\nb' },
    ])
  })

  it('ends with the user even if the model spoke last', () => {
    expect(messagesOf(userSays('a'), modelSays({ text: 'one' })).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})

describe('a call in the history', () => {
  const callOf = (fields: Partial<Call>) =>
    messagesOf(userSays('a'), modelSays({ calls: [call(fields)] }))[1]?.tool_calls?.[0] as ToolCall

  it.each([
    ['{ "path":\t"x" }', '{ "path":\t"x" }'],
    [
      '{"n":1.0,"id":12345678901234567890,"__proto__":{"b":2}}',
      '{"n":1.0,"id":12345678901234567890,"__proto__":{"b":2}}',
    ],
    ['{"emoji":"\\ud83d\\ude00"}', '{"emoji":"\\ud83d\\ude00"}'],
    ['', '{}'],
    ['{"a":', '{}'],
    ['[1]', '{}'],
    ['null', '{}'],
    [`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, '{}'],
    ['{"a":"\\ud83d"}', '{"a":"\ufffd"}'],
    ['{"a":1e999}', '{"a":null}'],
  ])(
    'has its arguments as the model wrote them, where they can be sent back: %.40s',
    (raw, sent) => {
      expect(callOf({ raw }).function.arguments).toBe(sent)
    },
  )

  it.each([
    ['functions.read:0', 'functions.read:0'],
    ['0', '0'],
    ['', expect.stringMatching(/^[0-9a-f]{9}$/)],
    ['x'.repeat(41), expect.stringMatching(/^[0-9a-f]{9}$/)],
    ['with blank', expect.stringMatching(/^[0-9a-f]{9}$/)],
  ])('keeps the id that the provider gave it, unless that cannot stand: %s', (id, kept) => {
    expect(callOf({ id }).id).toEqual(kept)
  })

  it('gets another id where a model uses one again, and always the same', () => {
    const history = [
      userSays('a'),
      modelSays({ calls: [call({ id: '0' })] }),
      modelSays({ calls: [call({ id: '0' })] }, { round: 2 }),
    ]
    const ids = () =>
      messagesOf(...history).flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))
    expect(ids()).toEqual(['0', expect.stringMatching(/^[0-9a-f]{9}$/)])
    expect(ids()).toEqual(ids())
  })

  it('has a name that is taken back', () => {
    expect(callOf({ name: 'wéird.name!' }).function.name).toBe('w_ird_name_')
    expect(callOf({ name: 'x'.repeat(500) }).function.name).toHaveLength(64)
  })
})

describe('reasoning', () => {
  const thinking = (fields: object) => JSON.stringify([{ model: 'some-model', ...fields }])
  const withCall = (reasoning: string) =>
    modelSays({ reasoning, calls: [call()] }, { results: [result()] })

  it('goes back in its own field from a call until the user speaks: there the provider demands it', () => {
    const reasoning = thinking({ reasoning_content: 'hm' })
    const history = [
      userSays('a'),
      withCall(reasoning),
      modelSays({ reasoning, text: 'x' }, { round: 2 }),
      userSays('b', { turn: 1 }),
    ]
    expect(messagesOf(...history).map((message) => message.reasoning_content)).toEqual([
      undefined,
      'hm',
      undefined,
      'hm',
      undefined,
    ])
  })

  it('is an empty text where a call came without it, once an earlier message had the field', () => {
    const history = [
      userSays('a'),
      withCall(''),
      modelSays(
        { reasoning: thinking({ reasoning_content: 'hm' }), calls: [call({ id: 't2' })] },
        { round: 2, results: [result()] },
      ),
      modelSays({ calls: [call({ id: 't3' })] }, { round: 3, results: [result()] }),
      modelSays({ text: 'x' }, { round: 4 }),
      userSays('b', { turn: 1 }),
      modelSays({ text: 'y' }, { turn: 1 }),
    ]
    const sent = messagesOf(...history).filter(({ role }) => role === 'assistant')
    expect(sent.map((message) => message.reasoning_content)).toEqual([
      undefined,
      'hm',
      '',
      '',
      undefined,
    ])
  })

  it('is an empty text in place of damaged data, because such hosts refuse a missing field too', () => {
    const history = [
      userSays('a'),
      withCall(''),
      withCall(thinking({ reasoning_content: 'hm' })),
      withCall(thinking({ reasoning: 'hm' })),
      withCall(''),
    ]
    const sent = (refused: 'damaged' | 'unaccepted') =>
      chatMessages(
        history,
        { model: 'some-model', refused },
        { nineCharacterIds: false, rebuilt: false },
      )
        .filter(({ role }) => role === 'assistant')
        .map((message) => ('reasoning_content' in message ? message.reasoning_content : undefined))
    expect(sent('damaged')).toEqual([undefined, '', '', ''])
    expect(sent('unaccepted')).toEqual([undefined, undefined, undefined, undefined])
  })

  it('is never filled for a model that thinks in another field or not at all', () => {
    for (const reasoning of ['', thinking({ reasoning: 'hm' })]) {
      const history = [userSays('a'), withCall(reasoning), withCall('')]
      expect(JSON.stringify(messagesOf(...history))).not.toContain('reasoning_content')
    }
  })

  it('of a signed call gets the documented value of Gemini where the signature is missing or damaged', () => {
    const extra = { google: { thought_signature: 's1' } }
    const calls = [0, 1].map((ordinal) => call({ ordinal, id: `t${ordinal}` }))
    const signed = modelSays({ reasoning: thinking({ extra_content: { 0: extra } }), calls })
    const extras = (refused: 'unsigned' | 'damaged' | 'unaccepted', said: HistoryEntry) =>
      chatMessages(
        [userSays('a'), said],
        { model: 'some-model', refused },
        { nineCharacterIds: false, rebuilt: false },
      )
        .flatMap((message) =>
          'tool_calls' in message ? (message.tool_calls as unknown as ToolCall[]) : [],
        )
        .map(({ extra_content: sent }) => sent)
    const skip = { google: { thought_signature: 'skip_thought_signature_validator' } }
    expect(extras('unsigned', signed)).toEqual([extra, undefined])
    expect(extras('unsigned', modelSays({ calls }))).toEqual([skip, undefined])
    expect(extras('damaged', signed)).toEqual([skip, undefined])
    expect(extras('unaccepted', signed)).toEqual([undefined, undefined])
  })

  it('stays away where no call was made', () => {
    const said = modelSays({ reasoning: thinking({ reasoning_content: 'hm' }), text: 'x' })
    expect(JSON.stringify(messagesOf(userSays('a'), said))).not.toContain('hm')
  })

  it.each([
    ['of another model', JSON.stringify([{ model: 'another', reasoning_content: 'hm' }])],
    [
      "of another provider's blocks",
      JSON.stringify([{ type: 'thinking', thinking: 'hm', signature: 's' }]),
    ],
    ['that is unreadable', 'hm'],
  ])('stays away %s', (_, reasoning) => {
    expect(JSON.stringify(messagesOf(userSays('a'), withCall(reasoning)))).not.toContain('hm')
  })

  it('that signs a call goes back next to it', () => {
    const extra = { google: { thought_signature: 's1' } }
    const calls = [0, 1].map((ordinal) => call({ ordinal, id: `t${ordinal}` }))
    const said = modelSays({ reasoning: thinking({ extra_content: { 1: extra } }), calls })
    expect(messagesOf(userSays('a'), said)[1]?.tool_calls).toEqual([
      toolCall('t0'),
      { ...toolCall('t1'), extra_content: extra },
    ])
  })

  it('of this kind is nothing for another API, where an agent has changed its model', () => {
    const said = withCall(thinking({ reasoning_content: 'hm' }))
    expect(JSON.stringify(conversationMessages([userSays('a'), said]))).not.toContain('hm')
  })
})

// Histories as they may be, and as they should not be: ids that repeat, calls without results,
// results without calls, gaps.

const word = fc.constantFrom('', ' ', 'word', '\ud83d', 'a longer text')
const someCall = fc.record({
  id: fc.constantFrom('', 't1', 't2', 'a.b:0', 'x'.repeat(50), 'a b'),
  name: word,
  raw: fc.constantFrom('', '{}', '{"a":1}', '{"a":', '[]', '{"a":"\\ud83d"}'),
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
    '[{"model":"some-model","reasoning_content":"\ud83d"}]',
    'no json',
  ),
  note: fc.option(word),
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
      ...rounds.map(({ text, reasoning, note, calls, results }, n) => {
        const entry = modelSays(
          {
            text,
            reasoning,
            calls: (calls ?? []).map((fields, ordinal) => call({ ...fields, ordinal })),
          },
          { turn, round: n + 1, results: results.map((fields): CallResult => result(fields)) },
        )
        return calls === undefined ? { ...entry, response: null, note } : { ...entry, note }
      }),
    ]),
  )

describe('any history', () => {
  it('the API takes it: every entry of tool_calls is followed by exactly one tool message, and nothing is out of order (I5.4)', () => {
    fc.assert(
      fc.property(someHistory, (history) =>
        expect(historyFault(messagesOf(...history))).toBeUndefined(),
      ),
    )
  })

  it('more entries only add to the end, so that the prompt cache holds', () => {
    const textOf = (history: HistoryEntry[]) => {
      const messages = messagesOf(...history)
      const last = messages.at(-1)
      // A filler at the end stands for the user's next message.
      if (last?.role === 'user')
        last.content = last.content?.replace(/(^|\n\n)Please continue\.$/, '') ?? null
      return messages
        .map((message) => JSON.stringify(message))
        .join('\n')
        .replace(/"\}$/, '')
        .replace(/\n\{"role":"user","content":"$/, '')
    }
    fc.assert(
      fc.property(someHistory, fc.nat(20), (history, cut) => {
        expect(
          textOf(history).startsWith(textOf(history.slice(0, 1 + (cut % history.length)))),
        ).toBe(true)
      }),
    )
  })
})
