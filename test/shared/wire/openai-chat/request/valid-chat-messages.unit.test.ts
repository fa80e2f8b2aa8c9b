import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import {
  type ChatForm,
  validChatMessages,
} from '../../../../../shared/wire/openai-chat/request/valid-chat-messages.ts'

type Message = ChatCompletionMessageParam
const strict: ChatForm = {
  id: /^[a-zA-Z0-9]{9}$/,
  madeId: (place) =>
    place
      .replaceAll(/[^a-zA-Z0-9]/g, '')
      .padStart(9, '0')
      .slice(-9),
  alternating: true,
}
const lax: ChatForm = { id: /^.+$/, madeId: (place) => place, alternating: false }

const user = (content: string): Message => ({ role: 'user', content })
const system = (content: string): Message => ({ role: 'system', content })
const says = (content: string): Message => ({ role: 'assistant', content })
const call = (id: string, name = 'read') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{}' },
})
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => call(id)),
})
const returns = (id: string, content = 'done'): Message => ({
  role: 'tool',
  tool_call_id: id,
  content,
})

describe('a history with a fault', () => {
  it('says that a lost result is unknown, drops those of nobody, and restores the order', () => {
    const list = [
      user('hi'),
      calls('a', 'b', 'c'),
      returns('gone'),
      returns('c'),
      returns('a'),
      returns('a', 'again'),
      says('so'),
      user('ok'),
    ]
    expect(validChatMessages(list, lax)).toEqual([
      ...[user('hi'), calls('a', 'b', 'c')],
      ...[
        returns('a'),
        returns('b', 'The result of this call is not known.'),
        returns('c'),
        says('so'),
        user('ok'),
      ],
    ])
  })

  it('moves a system message, and a user, out from between a call and its result', () => {
    expect(
      validChatMessages(
        [user('hi'), calls('a'), system('Be brief.'), user('quick'), returns('a')],
        lax,
      ),
    ).toEqual([...[user('hi'), calls('a'), returns('a'), system('Be brief.'), user('quick')]])
  })

  it('keeps apart the results of calls that have the same id', () => {
    expect(
      validChatMessages(
        [user('hi'), calls('a'), returns('a', 'one'), calls('a'), returns('a', 'two')],
        lax,
      ),
    ).toEqual([
      ...[user('hi'), calls('a'), returns('a', 'one'), calls('a_1'), returns('a_1', 'two')],
    ])
  })

  it('gives ids the form that the server demands', () => {
    expect(
      validChatMessages([user('hi'), calls('call_123456789'), returns('call_123456789')], strict),
    ).toEqual([...[user('hi'), calls('234567891'), returns('234567891')]])
  })

  it('lets roles take turns where that is demanded, and only there', () => {
    const list = [
      user('a'),
      user('b'),
      calls('abcdefghi'),
      returns('abcdefghi'),
      user('c'),
      says('d'),
      says('e'),
    ]
    expect(validChatMessages(list, lax)).toEqual(list)
    expect(validChatMessages(list, strict)).toEqual([
      ...[
        user('a\n\nb'),
        calls('abcdefghi'),
        returns('abcdefghi'),
        says('(This was left without an answer.)'),
        user('c'),
      ],
      ...[says('d\n\ne'), user('Please continue.')],
    ])
  })

  it('drops blank texts, but not the call beside one', () => {
    const blank: Message = { role: 'assistant', content: ' ', tool_calls: [call('a')] }
    expect(
      validChatMessages([system(' '), user('hi'), says(''), blank, returns('a')], lax),
    ).toEqual([user('hi'), calls('a'), returns('a')])
  })
})

const seed = 20_261_122
const id = fc.constantFrom('a', 'b', 'abcdefghi', 'call_0')
const text = fc.constantFrom('', ' ', 'hi', 'so')
const anyList = fc.array(
  fc.oneof(
    text.map(user),
    text.map(system),
    text.map(says),
    fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)),
    id.map((one) => returns(one)),
  ),
  { maxLength: 12 },
)

/** The reason why a server would refuse the list. */
function fault(messages: Message[], form: ChatForm): string | undefined {
  const used = new Set<string>()
  let open: string[] = []
  for (const [n, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (open.shift() !== message.tool_call_id)
        return `message ${n} answers another call than the next one`
      continue
    }
    if (open.length > 0) return `message ${n} stands before the result of ${open[0]}`
    if (typeof message.content === 'string' && message.content.trim() === '')
      return `message ${n} is blank`
    const before = messages[n - 1]?.role
    if (form.alternating && message.role === 'user' && (before === 'user' || before === 'tool'))
      return `message ${n} is a user's after a ${before}'s`
    if (message.role !== 'assistant') continue
    if (form.alternating && before === 'assistant')
      return `message ${n} is the second of the assistant`
    open = (message.tool_calls ?? []).map((one) => one.id)
    for (const one of open) {
      if (used.has(one) || !form.id.test(one)) return `the id ${one} is used twice or foreign`
      used.add(one)
    }
  }
  return open.length > 0 ? `there is no result of ${open[0]}` : undefined
}

describe('any history', () => {
  it.each([
    ['any server', lax],
    ['the strictest', strict],
  ])('becomes valid for %s, and valid once more is the same, message by message', (_, form) => {
    fc.assert(
      fc.property(anyList, (list) => {
        const valid = validChatMessages(list, form)
        expect(fault(valid, form)).toBeUndefined()
        const again = validChatMessages(valid, form)
        expect(again).toHaveLength(valid.length)
        for (const [n, message] of again.entries()) expect(message).toBe(valid[n])
      }),
      { seed, numRuns: 2_000 },
    )
  })

  it('that is valid comes out unchanged', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), fc.boolean()), { maxLength: 8 }),
        fc.constantFrom(lax, strict),
        (rounds, form) => {
          const list: Message[] = [system('Be brief.'), user('hi')]
          for (const [n, [count, speaks]] of rounds.entries()) {
            const ids = Array.from({ length: count }, (_, ordinal) =>
              `id${n}x${ordinal}`.padEnd(9, '0'),
            )
            if (count > 0) list.push(calls(...ids), ...ids.map((one) => returns(one)))
            if (speaks || count === 0) list.push(says('so'), user('and?'))
          }
          const valid = validChatMessages(list, form)
          expect(valid).toHaveLength(list.length)
          for (const [n, message] of valid.entries()) expect(message).toBe(list[n])
        },
      ),
      { seed, numRuns: 500 },
    )
  })
})
