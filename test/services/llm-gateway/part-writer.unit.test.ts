import { describe, expect, it } from '@jest/globals'
import { PartWriter } from '../../../services/llm-gateway/part-writer.ts'
import { limits } from '../../../shared/limits.ts'
import type { PartEvent } from '../../../shared/messages.ts'
import { manualClock } from '../../support/manual-clock.ts'

const text = (words: string): PartEvent => ({ kind: 'text', index: 0, id: null, name: null, text: words })

/** A writer whose writes are acknowledged by hand. */
function writing() {
  const clock = manualClock(0)
  const sent: { i: number; texts: string[]; acknowledge: () => void; reject: (error: Error) => void }[] = []
  const writer = new PartWriter(
    clock,
    (i, events) =>
      new Promise((resolve, reject) =>
        sent.push({ i, texts: events.map((event) => event.text), acknowledge: () => resolve(undefined), reject }),
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
  it('gather for a moment and go in one record, in order', async () => {
    const { writer, clock, texts } = writing()
    await writer.add([text('a')])
    await writer.add([text('b'), text('c')])
    expect(texts()).toEqual([])
    clock.advance(limits.partHoldMs)
    expect(texts()).toEqual([['a', 'b', 'c']])
  })

  it('wait while a write is in flight, however long it takes, and go together in the next one', async () => {
    const { writer, clock, sent, texts } = writing()
    await writer.add([text('a')])
    clock.advance(limits.partHoldMs)
    await writer.add([text('b')])
    clock.advance(10 * limits.partHoldMs)
    await writer.add([text('c')])
    expect(texts()).toEqual([['a']])
    sent[0]?.acknowledge()
    await settled()
    expect(texts()).toEqual([['a'], ['b', 'c']])
    expect(sent.map(({ i }) => i)).toEqual([0, 1])
  })

  it('do not wait when a record is full, by count or by bytes', async () => {
    const many = writing()
    many.writer.add(Array.from({ length: limits.partEventsMax + 1 }, (_, n) => text(`${n}`))).catch(() => {})
    expect(many.texts().map((events) => events.length)).toEqual([limits.partEventsMax])
    const large = writing()
    large.writer.add([text('x'.repeat(limits.partBytesMax)), text('y')]).catch(() => {})
    expect(large.texts()).toEqual([['x'.repeat(limits.partBytesMax)]])
  })

  it('hold up whoever adds more while a full record waits behind a write', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(limits.partHoldMs)
    const added = writer.add([text('x'.repeat(limits.partBytesMax))])
    expect(await isSettled(added)).toBe(false)
    sent[0]?.acknowledge()
    expect(await isSettled(added)).toBe(true)
  })
})

describe('the end', () => {
  it('is reached when all parts are acknowledged, and says how many there are', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(limits.partHoldMs)
    await writer.add([text('b')])
    const end = writer.finish()
    sent[0]?.acknowledge()
    expect(await isSettled(end)).toBe(false)
    sent[1]?.acknowledge()
    expect(await end).toBe(2)
  })

  it('of nothing is no part at all', async () => {
    expect(await writing().writer.finish()).toBe(0)
  })

  it('that is a stop drops what was not sent and waits for what was', async () => {
    const { writer, clock, sent } = writing()
    await writer.add([text('a')])
    clock.advance(limits.partHoldMs)
    await writer.add([text('b')])
    const end = writer.stop()
    expect(await isSettled(end)).toBe(false)
    sent[0]?.acknowledge()
    await end
    clock.advance(1000)
    expect(sent).toHaveLength(1)
  })
})

it('writes nothing more after a write that failed, and says so', async () => {
  const { writer, clock, sent } = writing()
  await writer.add([text('a')])
  clock.advance(limits.partHoldMs)
  await writer.add([text('b')])
  sent[0]?.reject(new Error('the bus gave up'))
  await settled()
  await expect(writer.add([text('c')])).rejects.toThrow('the bus gave up')
  await expect(writer.finish()).rejects.toThrow('the bus gave up')
  clock.advance(1000)
  expect(sent).toHaveLength(1)
  await writer.stop()
})
