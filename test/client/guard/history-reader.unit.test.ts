// A reader that remembers a history gives the same result as a read of the whole request.

import { describe, expect, it } from '@jest/globals'
import type { GuestRequest } from '../../../client/guard/guest-conversation.ts'
import {
  type GuestHistory,
  historyOf,
  historyReader,
} from '../../../client/guard/history/history.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { formatNames } from '../../../shared/wire/formats.ts'
import {
  requestOf,
  type Said,
  saidCall,
  saidText,
  type Turn,
} from '../../support/guest-requests.ts'

const call = (n: number, result: string | undefined = `content ${n}`) =>
  saidCall('read', { n: n % 3 }, { id: `call_${n % 2}`, result })

/** All that a front uses. */
const plain = ({ rounds, counts, ...history }: GuestHistory) => ({
  ...history,
  counts: [...counts],
  rounds: rounds.map(({ key, spoken, results }) => ({ key, calls: spoken.calls, results })),
})

/** Reads the requests in order. Each one must give the result of a whole read. */
function expectEqual(requests: readonly GuestRequest[]): void {
  const reader = historyReader()
  for (const request of requests)
    expect(plain(reader.read('c', request))).toEqual(plain(historyOf(request)))
}

const withRounds = (n: number): Said[] => Array.from({ length: n }, (_, at) => call(at))

describe.each(formatNames)('a history in the format %s', (format) => {
  const of = (turns: readonly Turn[]) => requestOf(format, turns)

  it('is the same when it grows by rounds and by turns', () => {
    const first = { user: 'Go.', responses: [...withRounds(4), saidText('Done.')] }
    expectEqual([
      ...Array.from({ length: 5 }, (_, n) => of([{ user: 'Go.', responses: withRounds(n) }])),
      of([first, { user: 'Again.', responses: [] }]),
      of([first, { user: 'Again.', responses: withRounds(1) }]),
      of([first, { user: 'Again.', responses: withRounds(3) }]),
      of([first, { user: 'Again.', responses: withRounds(3) }]),
    ])
  })

  it('is the same when rounds have no result yet', () => {
    expectEqual([
      of([{ user: 'Go.', responses: [call(0, undefined)] }]),
      of([{ user: 'Go.', responses: [call(0, undefined), call(1)] }]),
      of([{ user: 'Go.', responses: [call(0), call(1), call(2, undefined)] }]),
      of([{ user: 'Go.', responses: [call(0), call(1), call(2), saidText('Hm.')] }]),
    ])
  })

  it('is the same when it is edited, cut and continued', () => {
    const rounds = withRounds(4)
    expectEqual([
      of([{ user: 'Go.', responses: rounds }]),
      of([{ user: 'Go.', responses: [call(0, 'cleared'), ...rounds.slice(1)] }]),
      of([{ user: 'Go.', responses: rounds.slice(2) }]),
      of([{ user: 'Stop.', responses: rounds.slice(2) }]),
      of([{ user: 'Stop.', responses: [...rounds.slice(2), call(7)] }]),
    ])
  })

  it('is the same when more rounds are shown than a front names', () => {
    const many = limits.guestKeysMax + 3
    expectEqual(
      [many, many + 1, many + 4].map((n) => of([{ user: 'Go.', responses: withRounds(n) }])),
    )
  })
})

type Messages = { content: { input: object }[] }[]

describe('a reader of histories', () => {
  it('notices a message that was changed in place', () => {
    const reader = historyReader()
    const request = requestOf('anthropic', [{ user: 'Go.', responses: withRounds(2) }])
    const before = reader.read('c', request).rounds.map(({ key }) => key)
    const { messages } = request.body as { messages: Messages }
    const [block] = messages[1]?.content ?? []
    if (block !== undefined) block.input = { n: 9 }
    const { rounds } = reader.read('c', request)
    expect(rounds[0]?.key).not.toBe(before[0])
    expect(plain(reader.read('c', request))).toEqual(plain(historyOf(request)))
  })

  it('adds to a response whose message goes on after a result', () => {
    const said = (id: string, call: string) => ({
      role: 'assistant',
      id,
      content: [{ type: 'tool_use', id: call, name: 'read', input: {} }],
    })
    const result = (id: string) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }],
    })
    const messages = [
      ...[{ role: 'user', content: 'Go.' }, said('m1', 'a'), result('a'), said('m1', 'b')],
      ...[result('b'), said('m2', 'c'), result('c')],
    ]
    const requests = [3, 5, 7].map((n) => ({
      format: 'anthropic' as const,
      body: { messages: messages.slice(0, n) },
    }))
    expectEqual(requests)
    expect(historyOf(requests[2] as GuestRequest).rounds).toHaveLength(2)
  })

  it('reads each conversation and each format by itself', () => {
    const reader = historyReader()
    const chat = requestOf('openai-chat', [{ user: 'Go.', responses: withRounds(2) }])
    const other = requestOf('anthropic', [{ user: 'Go.', responses: withRounds(3) }])
    for (const [id, request] of [
      ['a', chat],
      ['b', other],
      ['a', other],
      ['b', chat],
    ] as const)
      expect(plain(reader.read(id, request))).toEqual(plain(historyOf(request)))
  })

  it('reads objects of a class each time, because they can hide a change', () => {
    class Message {
      role = 'user'
      content: string
      constructor(content: string) {
        this.content = content
      }
    }
    const message = new Message('Go.')
    const reader = historyReader()
    const request = { format: 'anthropic' as const, body: { messages: [message] } }
    expect(reader.read('c', request).user).toBe('Go.')
    message.content = 'Stop.'
    expect(reader.read('c', request).user).toBe('Stop.')
  })

  it('names the place of a mistake in the whole request', () => {
    const reader = historyReader()
    const messages: unknown[] = [{ role: 'user', content: 'Go.' }]
    reader.read('c', { format: 'anthropic', body: { messages } })
    messages.push({ role: 'robot', content: '' })
    expect(() => reader.read('c', { format: 'anthropic', body: { messages } })).toThrow(
      'messages[1].role',
    )
  })
})
