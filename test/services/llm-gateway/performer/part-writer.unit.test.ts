import { describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import {
  PartWriter,
  partBytesMax,
  partEventsMax,
  partHoldMs,
} from '../../../../services/llm-gateway/performer/answer.ts'
import { connect } from '../../../../services/llm-gateway/performer/providers/providers.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { answering, chunk, sse } from '../../../support/provider-streams.ts'
import { agentOf, readToEnd } from '../samples.ts'

const text = (words: string): PartEvent => ({
  kind: 'text',
  index: 0,
  id: null,
  name: null,
  text: words,
})

/** A writer whose writes the test acknowledges. */
function writing() {
  const clock = fakeClock(0)
  const sent: {
    i: number
    texts: string[]
    acknowledge: () => void
    reject: (error: Error) => void
  }[] = []
  const writer = new PartWriter(
    clock,
    (i, events) =>
      new Promise((resolve, reject) =>
        sent.push({
          i,
          texts: events.map((event) => event.text),
          acknowledge: () => resolve(undefined),
          reject,
        }),
      ),
  )
  return { clock, sent, writer, texts: () => sent.map((part) => part.texts) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let done = false
  work.then(
    () => (done = true),
    () => (done = true),
  )
  await settled()
  return done
}

describe('parts', () => {
  it('gather for a moment and share one record, in order', async () => {
    const { writer, clock, texts } = writing()
    await writer.add([text('a')])
    await writer.add([text('b'), text('c')])
    expect(texts()).toEqual([])
    clock.advance(partHoldMs)
    expect(texts()).toEqual([['a', 'b', 'c']])
  })

  it('of the first text do not wait, and those of later texts do', async () => {
    const { writer, clock, sent, texts } = writing()
    const thought: PartEvent = { ...text('hm'), kind: 'reasoning' }
    await writer.add([thought])
    clock.advance(1)
    expect(texts()).toEqual([])
    await writer.add([text('a')])
    clock.advance(1)
    expect(texts()).toEqual([['hm', 'a']])
    sent[0]?.acknowledge()
    await settled()
    await writer.add([text('b')])
    clock.advance(partHoldMs - 1)
    expect(texts()).toHaveLength(1)
    clock.advance(1)
    expect(texts()).toEqual([['hm', 'a'], ['b']])
  })

  it('are left to the caller at the end, for a write together with other records', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(partHoldMs)
    await writer.add([text('b')])
    const finishing = writer.finishWithRest()
    expect(await isSettled(finishing)).toBe(false) // the first may still fail
    sent[0]?.acknowledge()
    await settled()
    sent[1]?.acknowledge() // contains the events gathered after it
    expect(await finishing).toEqual({ parts: 2, rest: [] })

    const other = writing()
    await other.writer.add([text('a'), text('b')])
    expect(await other.writer.finishWithRest()).toEqual({
      parts: 1,
      rest: [[text('a'), text('b')]],
    })
    other.clock.advance(partHoldMs)
    expect(other.sent).toEqual([])
  })

  it('wait while a write is in flight, for any time, and share the next record', async () => {
    const { writer, clock, sent, texts } = writing()
    await writer.add([text('a')])
    clock.advance(partHoldMs)
    await writer.add([text('b')])
    clock.advance(10 * partHoldMs)
    await writer.add([text('c')])
    expect(texts()).toEqual([['a']])
    sent[0]?.acknowledge()
    await settled()
    expect(texts()).toEqual([['a'], ['b', 'c']])
    expect(sent.map(({ i }) => i)).toEqual([0, 1])
  })

  it('do not wait if a record is full, by count or by bytes', async () => {
    const many = writing()
    many.writer
      .add(Array.from({ length: partEventsMax + 1 }, (_, n) => text(`${n}`)))
      ?.catch(() => {})
    expect(many.texts().map((events) => events.length)).toEqual([partEventsMax])
    const large = writing()
    large.writer.add([text('x'.repeat(partBytesMax)), text('y')])?.catch(() => {})
    expect(large.texts()).toEqual([['x'.repeat(partBytesMax)]])
  })

  it('make add() wait while a full record is after a write', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(partHoldMs)
    const added = writer.add([text('x'.repeat(partBytesMax))]) ?? Promise.resolve()
    expect(await isSettled(added)).toBe(false)
    sent[0]?.acknowledge()
    expect(await isSettled(added)).toBe(true)
  })
})

describe('a character that two pieces bring', () => {
  const [high, low] = ['\ud83d', '\ude00']
  const piece = (kind: PartEvent['kind'], index: number, words: string): PartEvent => ({
    ...text(words),
    kind,
    index,
  })

  /** The written events, each added alone and each in one record. */
  async function written(...events: PartEvent[]): Promise<PartEvent[]> {
    const clock = fakeClock(0)
    const sent: PartEvent[] = []
    const writer = new PartWriter(clock, async (_, record) => {
      sent.push(...record)
    })
    for (const event of events) {
      await writer.add([event])
      clock.advance(partHoldMs)
      await settled()
    }
    await writer.finish()
    return sent
  }

  it.each(['text', 'reasoning', 'call_arguments'] as const)(
    'goes into the log whole: %s',
    async (kind) => {
      expect(await written(piece(kind, 0, `a${high}`), piece(kind, 0, `${low}b`))).toEqual([
        piece(kind, 0, 'a'),
        piece(kind, 0, `${high}${low}b`),
      ])
      expect(await written(piece(kind, 0, high), piece(kind, 0, low))).toEqual([
        piece(kind, 0, high + low),
      ])
      expect(await written(piece(kind, 0, high), piece(kind, 0, ''), piece(kind, 0, low))).toEqual([
        piece(kind, 0, high + low),
      ])
    },
  )

  it('waits for its own text, with any events in between', async () => {
    const events = [
      piece('text', 0, high),
      piece('reasoning', 0, 'x'),
      piece('text', 1, 'y'),
      piece('text', 0, low),
    ]
    expect(await written(...events)).toEqual([
      piece('reasoning', 0, 'x'),
      piece('text', 1, 'y'),
      piece('text', 0, high + low),
    ])
  })

  it('precedes the end of its block, and is written at the end even if its other half never came', async () => {
    expect(await written(piece('call_arguments', 2, high), piece('call_end', 2, ''))).toEqual([
      piece('call_arguments', 2, high),
      piece('call_end', 2, ''),
    ])
    expect(await written(piece('text', 0, high))).toEqual([piece('text', 0, high)])
    expect(
      await written(piece('text', 0, high), piece('text', 0, high), piece('text', 0, 'a')),
    ).toEqual([piece('text', 0, high), piece('text', 0, `${high}a`)])
  })

  it('of a call without blocks waits only for a likely continuation, and no piece is lost', async () => {
    const of = (words: string, fields: Partial<PartEvent> = {}) => ({
      ...piece('call_piece', 0, words),
      ...fields,
    })
    const begin = of(`"${high}`, { id: 'c1', name: 'read' })
    expect(await written(begin, of(`${low}"`, { id: 'c1' }))).toEqual([
      { ...begin, text: '"' },
      of(`${high}${low}"`, { id: 'c1' }),
    ])
    expect(await written(begin, of(`${low}"`))).toEqual([
      { ...begin, text: '"' },
      of(`${high}${low}"`),
    ])
    for (const other of [
      of('x', { index: 1 }),
      of('x', { id: 'c2' }),
      of('x', { name: 'write' }),
      { ...of('x'), kind: 'call_piece_beside' as const },
    ])
      expect(await written(begin, other)).toEqual([
        { ...begin, text: '"' },
        of(high, { id: 'c1' }),
        other,
      ])
    expect(await written(begin)).toEqual([{ ...begin, text: '"' }, of(high, { id: 'c1' })])
    expect(await written(of(high, { id: 'c1', name: 'read' }), of(low))).toEqual([
      of('', { id: 'c1', name: 'read' }),
      of(high + low),
    ])
  })

  it('survives the log for both providers, sent unit by unit', async () => {
    const words = 'a \u{1f600}\u{1f1e9}\u{1f1ea} b'
    const units = Array.from({ length: words.length }, (_, n) => words.charAt(n))
    const anthropicBody = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...units.map((unit) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: unit },
      })),
      { type: 'content_block_stop', index: 0 },
    ].map((event) => sse(event.type, JSON.stringify(event)))
    const chatBody = units.map((content) =>
      chunk(JSON.stringify({ choices: [{ delta: { content } }] })),
    )
    const providers = [
      connect(agentOf(), answering(anthropicBody.join(''))),
      connect(agentOf({}, { provider: 'openai-chat' }), answering(chatBody.join(''))),
    ]
    for (const provider of providers) {
      const { events } = await readToEnd(provider)
      expect(events.length).toBe(units.length)
      const logged = (await written(...events)).map((event) => Buffer.from(event.text).toString())
      expect(logged.join('')).toBe(words)
    }
  })
})

describe('the end', () => {
  it('resolves once all parts are acknowledged, and returns their number', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(partHoldMs)
    await writer.add([text('b')])
    const end = writer.finish()
    sent[0]?.acknowledge()
    expect(await isSettled(end)).toBe(false)
    sent[1]?.acknowledge()
    expect(await end).toBe(2)
  })

  it('without events writes no part', async () => {
    expect(await writing().writer.finish()).toBe(0)
  })

  it('by a stop drops unsent parts and waits for sent ones', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(partHoldMs)
    await writer.add([text('b')])
    const end = writer.stop()
    expect(await isSettled(end)).toBe(false)
    sent[0]?.acknowledge()
    await end
    clock.advance(1000)
    expect(sent).toHaveLength(1)
  })
})

it('after a failed write rejects, and nothing more is written', async () => {
  const { writer, clock, sent } = writing()
  await writer.add([text('a')])
  clock.advance(partHoldMs)
  await writer.add([text('b')])
  sent[0]?.reject(new Error('the bus gave up'))
  await settled()
  await expect(writer.add([text('c')])).rejects.toThrow('the bus gave up')
  await expect(writer.finish()).rejects.toThrow('the bus gave up')
  clock.advance(1000)
  expect(sent).toHaveLength(1)
  await writer.stop()
})
