import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { validMessages } from '../../../../shared/wire/anthropic/valid-messages.ts'
import { requestFault } from '../../../support/valid-request.ts'

const says = (text: string): ContentBlockParam => ({ type: 'text', text })
const calls = (id: string, name = 'read', input: unknown = {}): ContentBlockParam => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const returns = (id: string, content = 'done'): ContentBlockParam => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const user = (...content: ContentBlockParam[]): MessageParam => ({ role: 'user', content })
const assistant = (...content: ContentBlockParam[]): MessageParam => ({
  role: 'assistant',
  content,
})
const unknown = (id: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'The result of this call is not known.',
  is_error: true,
})

describe('a history with a fault', () => {
  it('says that a lost result is unknown', () => {
    expect(
      validMessages([
        user(says('hi')),
        assistant(calls('a'), calls('b')),
        user(returns('b'), says('go on')),
      ]),
    ).toEqual([
      ...[user(says('hi')), assistant(calls('a'), calls('b'))],
      { role: 'user', content: [unknown('a'), returns('b'), says('go on')] },
    ])
  })

  it('brings a result that stands later, or before its call, beside it', () => {
    const moved = [
      user(says('hi')),
      assistant(calls('a')),
      user(says('and?')),
      assistant(says('well')),
      user(returns('a')),
    ]
    expect(validMessages(moved)).toEqual([
      ...[
        user(says('hi')),
        assistant(calls('a')),
        user(returns('a'), says('and?')),
        assistant(says('well')),
        user(says('Please continue.')),
      ],
    ])
    expect(validMessages([user(says('hi'), returns('a')), assistant(calls('a'))])).toEqual([
      user(says('hi')),
      assistant(calls('a')),
      user(returns('a')),
    ])
  })

  it('puts results in the order of their calls, and before the words beside them', () => {
    expect(
      validMessages([
        user(says('hi')),
        assistant(calls('a'), calls('b')),
        user(says('here'), returns('b'), returns('a')),
      ])[2],
    ).toEqual(user(returns('a'), returns('b'), says('here')))
  })

  it('drops a second result, a second delivery of a call, and a result without a call', () => {
    expect(
      validMessages([
        user(says('hi')),
        assistant(calls('a'), calls('a')),
        user(returns('a'), returns('a', 'again'), returns('gone')),
      ]),
    ).toEqual([...[user(says('hi')), assistant(calls('a')), user(returns('a'))]])
  })

  it('gives an id that two calls have to the first, and keeps each result with its own call', () => {
    const rounds = ['one', 'two'].flatMap((text) => [
      assistant(calls('call_0', 'read', { text })),
      user(returns('call_0', text)),
    ])
    expect(validMessages([user(says('hi')), ...rounds])).toEqual([
      ...[user(says('hi')), ...rounds.slice(0, 2)],
      ...[assistant(calls('call_0_1', 'read', { text: 'two' })), user(returns('call_0_1', 'two'))],
    ])
  })

  it('gives the last of two calls of one id the one result that comes after both', () => {
    const valid = validMessages([
      user(says('hi')),
      assistant(calls('a')),
      user(says('no')),
      assistant(calls('a', 'write')),
      user(returns('a')),
    ])
    expect(valid.at(2)).toEqual({ role: 'user', content: [unknown('a'), says('no')] })
    expect(valid.at(-1)).toEqual(user(returns('a_1')))
  })

  it('replaces an id of a foreign form', () => {
    expect(
      validMessages([
        user(says('hi')),
        assistant(calls('functions.read:0')),
        user(returns('functions.read:0')),
      ])[2],
    ).toEqual(user(returns('functions_read_0_1')))
  })

  it('drops blank texts and empty messages, and joins consecutive messages of one role', () => {
    expect(
      validMessages([user(says('hi')), assistant(says(' ')), user(says('hello?'), says(''))]),
    ).toEqual([user(says('hi'), says('hello?'))])
  })

  it('moves a system message out from between a call and its result', () => {
    const system = { role: 'system', content: 'Be brief.' } as unknown as MessageParam
    expect(
      validMessages([user(says('hi')), assistant(calls('a')), system, user(returns('a'))])[2],
    ).toEqual(user(returns('a'), says('Be brief.')))
  })

  it('keeps a pair of a tool that the provider ran, and drops half of one', () => {
    const ran = {
      type: 'server_tool_use',
      id: 's',
      name: 'web_search',
      input: {},
    } as ContentBlockParam
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [],
    } as ContentBlockParam
    expect(
      validMessages([user(says('hi')), assistant(ran, found, says('So.')), user(says('ok'))])[1],
    ).toEqual(assistant(ran, found, says('So.')))
    expect(
      validMessages([user(says('hi')), assistant(ran, says('So.')), user(says('ok'))])[1],
    ).toEqual(assistant(says('So.')))
    expect(
      validMessages([user(says('hi')), assistant(found, says('So.')), user(says('ok'))])[1],
    ).toEqual(assistant(says('So.')))
  })

  it('begins and ends with the user', () => {
    expect(validMessages([assistant(says('hi'))]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ])
  })
})

const seed = 20_261_122
const id = fc.constantFrom('a', 'b', 'c', 'call_0', 'x.y')
const text = fc.constantFrom('', ' ', 'hi', 'so')
const block = fc.oneof(
  text.map(says),
  fc.tuple(id, fc.constantFrom('read', 'write')).map(([one, name]) => calls(one, name)),
  id.map((one) => returns(one)),
)
const anyList = fc.array(
  fc.oneof(
    fc.array(block, { maxLength: 4 }).map((content) => user(...content)),
    fc.array(block, { maxLength: 4 }).map((content) => assistant(...content)),
    fc
      .tuple(fc.constantFrom('user' as const, 'assistant' as const), text)
      .map(([role, content]) => ({ role, content })),
  ),
  { maxLength: 10 },
)

/**
 * Blocks that may precede the text of a response: thinking, signed or hidden, and a provider-run
 * tool.
 */
const beforeWords = (n: number): Record<string, ContentBlockParam[]> => ({
  nothing: [],
  thinking: [{ type: 'thinking', thinking: 'hm', signature: 's' }],
  hidden: [{ type: 'redacted_thinking', data: 'd' }],
  searched: [
    { type: 'server_tool_use', id: `srvtoolu_${n}`, name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${n}`, content: [] },
  ],
})

/**
 * Turns as a provider takes them: each call with its result, users and assistants in turns, ids
 * that nobody has twice.
 */
const rounds = fc.array(
  fc.tuple(fc.nat(3), fc.boolean(), fc.boolean(), fc.constantFrom(...Object.keys(beforeWords(0)))),
  { maxLength: 8 },
)
const validList = rounds.map((of) => {
  const list: MessageParam[] = [user(says('hi'))]
  for (const [n, [count, speaks, plain, kind]] of of.entries()) {
    const before = beforeWords(n)[kind] ?? []
    const own = Array.from({ length: count }, (_, ordinal) => `id_${n}_${ordinal}`)
    const words = speaks || count === 0 ? [says('so')] : []
    list.push(
      plain && count === 0
        ? { role: 'assistant', content: 'so' }
        : assistant(...before, ...words, ...own.map((one) => calls(one))),
    )
    list.push(
      plain && count === 0
        ? { role: 'user', content: 'and?' }
        : user(
            ...own.map((one) => returns(one)),
            ...(speaks ? [says('and?')] : []),
            ...(count === 0 && !speaks ? [says('and?')] : []),
          ),
    )
  }
  return list
})

describe('any history', () => {
  it('becomes valid, and valid once more is the same', () => {
    fc.assert(
      fc.property(anyList, (list) => {
        const valid = validMessages(list)
        const blocks = valid.map(({ role, content }) => ({
          role,
          content: typeof content === 'string' ? [says(content)] : content,
        }))
        if (valid.length > 0) expect(requestFault({ messages: blocks } as never)).toBeUndefined()
        expect(validMessages(valid)).toEqual(valid)
      }),
      { seed, numRuns: 2_000 },
    )
  })

  it('that is valid comes out unchanged', () => {
    fc.assert(
      fc.property(validList, (list) => {
        const valid = validMessages(list)
        expect(valid).toEqual(list)
        for (const [n, message] of valid.entries()) expect(message).toBe(list[n])
      }),
      { seed, numRuns: 500 },
    )
  })
})
