import { PassThrough } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { type Asker, answerIn, createAsker } from '../../../../apps/service/approvals/asker.ts'
import type { Screen } from '../../../../apps/terminal/live-screen.ts'
import type { ApprovalPendingEvent } from '../../../../client/turn/turn-event.ts'
import type { MessageOf } from '../../../../shared/contract/messages.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { until } from '../../../support/inbox.ts'

const id = {
  a: 'a7f3-9qxm-2b4d',
  b: 'b7f3-9qxm-2b4d',
  c: 'c7f3-9qxm-2b4d',
  d: 'd7f3-9qxm-2b4d',
  e: 'e7f3-9qxm-2b4d',
}
const place = { conversation: 'c', turn: 1, round: 1 }

function pending(...ids: string[]): ApprovalPendingEvent {
  const calls = ids.map((id, ordinal) => ({
    ordinal,
    name: 'deploy',
    arguments: {},
    rawArguments: '{}',
    id,
    hash: `hash of ${id}`,
    rule: 'r',
    source: null,
    program: null,
    question: null,
  }))
  return { type: 'approval-pending', ...place, calls, until: 9_000 }
}

function decided(id: string): MessageOf<'approval-decided'> {
  return {
    type: 'approval-decided',
    ...place,
    ordinal: 0,
    name: 'deploy',
    id,
    outcome: 'allow',
    by: 'x',
    reason: '',
    waitedMs: 1,
    identity: 'claimed' as const,
  }
}

/** A person at a terminal, with the decisions that reached Weir. */
function atTerminal({ isTerminal = true, counted = true, unfit = '' } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal, setRawMode: () => {} })
  const errors = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 80 })
  const told: unknown[] = []
  const printed: string[] = []
  let shown = ''
  errors.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  const say = (answer: string) => async (id: string, given?: { values?: string; by?: string }) => {
    told.push([answer, id, given])
    if (unfit !== '' && given?.values === unfit)
      throw new WeirError('message.invalid', 'seat must be text')
    return { counted, outcome: 'allow' as const, text: 'Nothing was changed.' }
  }
  const screen: Screen = {
    layout: () => ({ columns: 80, isLive: true, isTerminal: true }),
    show() {},
    live() {},
    print: (text) => printed.push(text),
  }
  const streams = { input, errors: errors as unknown as NodeJS.WriteStream }
  const asker = createAsker({ allow: say('allow'), deny: say('deny') }, screen, streams) as Asker
  const isAsked = (id: string, times = 1) =>
    until(async () => shown.split(`deploy ${id}: its first 4`).length > times)
  return { asker, input, told, printed, isAsked }
}

describe('at a terminal', () => {
  it('asks about one call after the other, and decides exactly the call on screen', async () => {
    const { asker, input, told, isAsked } = atTerminal()
    asker.askFor(pending(id.a, id.b))
    await isAsked(id.a)
    expect(asker.isAsking).toBe(true)
    input.write('b7f3\r')
    await isAsked(id.a, 2)
    input.write('a7f3\r')
    await isAsked(id.b)
    input.write('n, not on a Friday\r')
    await until(async () => told.length === 2)
    expect(told).toEqual([
      ['allow', id.a, { hash: `hash of ${id.a}` }],
      ['deny', id.b, { hash: `hash of ${id.b}`, reason: 'not on a Friday' }],
    ])
    await until(async () => !asker.isAsking)
  })

  it('gives the values of a question, and asks again after values that do not fit', async () => {
    const { asker, input, told, printed, isAsked } = atTerminal({ unfit: '{"seat":1}' })
    const event = pending(id.a)
    asker.askFor({ ...event, calls: event.calls.map((call) => ({ ...call, question: '{}' })) })
    await isAsked(id.a)
    input.write('a7f3 {"seat":1}\r')
    await until(async () => printed.length === 1)
    expect(printed[0]).toContain('seat must be text')
    await isAsked(id.a, 2)
    input.write('a7f3 {"seat":"aisle"}\r')
    await until(async () => told.length === 2)
    expect(told[1]).toEqual([
      'allow',
      id.a,
      { hash: `hash of ${id.a}`, values: '{"seat":"aisle"}' },
    ])
  })

  it('skips a call that was decided elsewhere, and continues with the next', async () => {
    const { asker, input, told, isAsked } = atTerminal()
    asker.askFor(pending(id.a, id.b, id.c))
    await isAsked(id.a)
    asker.stopFor(decided(id.b))
    asker.stopFor(decided(id.a))
    await isAsked(id.c)
    input.write('c7f3-9qxm\r')
    await until(async () => told.length === 1)
    expect(told).toEqual([['allow', id.c, { hash: `hash of ${id.c}` }]])
  })

  it('does not count text typed before the question as an approval', async () => {
    const { asker, input, told, isAsked } = atTerminal()
    input.write('y\r')
    asker.askFor(pending(id.a))
    await isAsked(id.a, 2)
    input.write('n\r')
    await until(async () => told.length === 1)
    expect(told).toMatchObject([['deny', id.a, {}]])
  })

  it('reports a decision that came too late', async () => {
    const { asker, input, printed, isAsked } = atTerminal({ counted: false })
    asker.askFor(pending(id.a))
    await isAsked(id.a)
    input.write('A7F3\r')
    await until(async () => printed.includes('  Nothing was changed.'))
  })

  it('ends its questions on Ctrl-D and at the end of the turn', async () => {
    const { asker, input, told, isAsked } = atTerminal()
    asker.askFor(pending(id.a))
    await isAsked(id.a)
    input.write('\u0004')
    await until(async () => !asker.isAsking)
    asker.askFor(pending(id.d, id.e))
    await isAsked(id.d)
    asker.close()
    expect(asker.isAsking).toBe(false)
    expect(told).toEqual([])
  })
})

it('createAsker returns undefined without a terminal', () => {
  expect(atTerminal({ isTerminal: false }).asker).toBeUndefined()
})

describe('an answer', () => {
  it.each([
    ['k7f3', { answer: 'allow' }],
    [' K7F3-9qxm ', { answer: 'allow' }],
    ['k7f39qxm2b4d', { answer: 'allow' }],
    ['k7f', undefined],
    ['k7f4', undefined],
    ['k7f3-9qxm-2b4d-0', undefined],
    ['y', undefined],
    ['yes', undefined],
    ['n', { answer: 'deny', reason: '' }],
    ['no', { answer: 'deny', reason: '' }],
    ['n: too late', { answer: 'deny', reason: 'too late' }],
    ['no not today', { answer: 'deny', reason: 'not today' }],
    ['', undefined],
    ['nothing', undefined],
    ['later', undefined],
  ])('is read from %j', (line, answer) => expect(answerIn(line, 'k7f3-9qxm-2b4d')).toEqual(answer))

  it('has values for a question only', () => {
    const line = 'K7F3 {"a":"{"}'
    const values = '{"a":"{"}'
    expect(answerIn(line, 'k7f3-9qxm-2b4d', true)).toEqual({ answer: 'allow', values })
    expect(answerIn(line, 'k7f3-9qxm-2b4d')).toBeUndefined()
    expect(answerIn('{"k7f3":1}', 'k7f3-9qxm-2b4d', true)).toBeUndefined()
  })

  it('denies if it begins with no, for any beginning of the id', () => {
    expect(answerIn('n abc', 'nabc-9qxm-2b4d')).toEqual({ answer: 'deny', reason: 'abc' })
    expect(answerIn('nabc', 'nabc-9qxm-2b4d')).toEqual({ answer: 'allow' })
    expect(answerIn('no12', 'n012-9qxm-2b4d')).toEqual({ answer: 'allow' })
  })
})
