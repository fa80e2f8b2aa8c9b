import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import type { Bus, StoredRecord } from '../../../../shared/contract/bus.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { parseId } from '../../../../shared/runtime/derived-id.ts'
import { createInputEnds, inputsAheadMax } from '../../../../shared/runtime/log/input-ends.ts'

const place = { topicPrefix: 'w.', topic: 'w.rounds-checked', partition: 1 }
/** The first input after an end that a record must wait for. */
const farAfter = (end: number) => end + inputsAheadMax

/** A bus on which every inbox ends at `end`, with the topics that were looked up. */
function world({ sees = false, seen = 0, isSigned = false } = {}) {
  const asked: string[] = []
  const clock = fakeClock(0)
  const state = { end: 10, failure: undefined as Error | undefined }
  const bus: Pick<Bus, 'ends' | 'endAhead' | 'endSeen' | 'provesWriters' | 'clock'> = {
    clock,
    async ends(topic) {
      asked.push(topic)
      if (state.failure !== undefined) throw state.failure
      return [{ partition: 1, begin: 0, end: state.end }]
    },
    ...(sees && { endAhead: () => state.end }),
    endSeen: () => seen,
    provesWriters: (topic) => isSigned && topic === 'w.rounds-checked',
  }
  const log = pino({ level: 'silent' })
  const ends = createInputEnds({ bus, ...place, log })
  return { asked, clock, state, ends }
}

const withId = (id: string) => ({ id }) as StoredRecord
const idOf = (text: string) => parseId(text) as NonNullable<ReturnType<typeof parseId>>
const away = new WeirError('bus.unreachable', 'away', { retryable: true })

describe('the ends of inputs', () => {
  it('are looked up once for each writer of a batch, and then known', async () => {
    const { asked, ends } = world()
    const records = ['conversation/1/3/0', 'conversation/1/9/0', 'validator/1/0/0'].map(withId)
    expect(await ends.lookUp(records)).toBe('known')
    expect(asked).toEqual(['w.conversation-events', 'w.rounds-proposed'])
    expect(ends.lookUp(records)).toBeUndefined()
    for (const { id } of records) expect(ends.refusalOf(idOf(id as string))).toBeUndefined()
  })

  it('are looked up again for an id far beyond them, because the log has grown', async () => {
    const { asked, state, ends } = world()
    await ends.lookUp([withId('conversation/1/3/0')])
    const id = `conversation/1/${farAfter(10)}/0`
    state.end = farAfter(10) + 1
    expect(await ends.lookUp([withId(id)])).toBe('known')
    expect(ends.refusalOf(idOf(id))).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  it('keep no record waiting whose input is a little beyond them', async () => {
    const { asked, state, ends } = world()
    await ends.lookUp([withId('conversation/1/3/0')])
    for (let offset = 10; offset < 1_000; offset += 1) {
      state.end = offset + 1
      expect(ends.lookUp([withId(`conversation/1/${offset}/0`)])).toBeUndefined()
      expect(ends.refusalOf(idOf(`conversation/1/${offset}/0`))).toBeUndefined()
      await turn()
    }
    expect(asked.length).toBeLessThan(40)
  })

  it('let one forged id be a bounded number of records beyond them', async () => {
    const { asked, ends } = world()
    await ends.lookUp([withId('conversation/1/3/0')])
    const [last, beyond] = [farAfter(10) - 1, farAfter(10)].map((at) => `conversation/1/${at}/0`)
    expect(ends.lookUp([withId(last as string)])).toBeUndefined()
    await turn()
    expect(await ends.lookUp([withId(beyond as string)])).toBe('known')
    expect(ends.refusalOf(idOf(beyond as string))).toMatchObject({ code: 'record.forged-id' })
    expect(asked).toHaveLength(3)
  })

  it('are not looked up in a topic whose records are signed by their stage', () => {
    const { asked, ends } = world({ isSigned: true })
    expect(ends.lookUp([withId('conversation/1/900/0')])).toBeUndefined()
    expect(ends.refusalOf(idOf('conversation/1/900/0'))).toBeUndefined()
    expect(ends.refusalOf(idOf('conversation/0/3/0'))).toMatchObject({ code: 'record.forged-id' })
    expect(asked).toEqual([])
  })

  it.each([
    ['an input beyond the end', 'conversation/1/10/0', /had no such record/],
    ['a huge input', 'loop-detector/1/900000000000000/0', /had no such record/],
    ['another partition than its own', 'conversation/0/3/0', /its partition is not 1/],
  ])('refuse an id that names %s', async (_, id, reason) => {
    const { ends } = world()
    await ends.lookUp([withId(id)])
    expect(ends.refusalOf(idOf(id))).toMatchObject({
      code: 'record.forged-id',
      message: expect.stringMatching(reason),
    })
  })

  it('leave an unknown stage to the admission, which names the writers', async () => {
    const { asked, ends } = world()
    expect(ends.lookUp([withId('nobody/1/3/0')])).toBeUndefined()
    expect(ends.refusalOf(idOf('nobody/1/3/0'))).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('are known at once on a bus that reads ahead of its log', () => {
    const { asked, ends } = world({ sees: true })
    expect(ends.lookUp([withId('conversation/1/3/0')])).toBeUndefined()
    expect(ends.refusalOf(idOf('conversation/1/3/0'))).toBeUndefined()
    expect(ends.refusalOf(idOf('conversation/1/10/0'))).toBeDefined()
    expect(asked).toEqual([])
  })

  it('are not looked up for an input that this process has read or written', async () => {
    const { asked, ends } = world({ seen: 5 })
    expect(ends.lookUp([withId('conversation/1/4/0')])).toBeUndefined()
    expect(ends.refusalOf(idOf('conversation/1/4/0'))).toBeUndefined()
    expect(await ends.lookUp([withId(`conversation/1/${farAfter(5)}/0`)])).toBe('known')
    expect(asked).toEqual(['w.conversation-events'])
  })

  it('are requested for one partition where the bus can do that', async () => {
    const places: object[] = []
    const bus = {
      clock: fakeClock(0),
      ends: async () => [],
      end: async (place: object) => places.push(place) && 10,
    }
    const log = pino({ level: 'silent' })
    const ends = createInputEnds({ bus, ...place, log })
    await ends.lookUp([withId('conversation/1/9/0')])
    expect(ends.refusalOf(idOf('conversation/1/9/0'))).toBeUndefined()
    expect(places).toEqual([{ topic: 'w.conversation-events', partition: 1 }])
  })

  it('are requested again while the broker is away, until the partition closes', async () => {
    const { asked, clock, state, ends } = world()
    state.failure = away
    const looking = ends.lookUp([withId('conversation/1/3/0')])
    await turn()
    state.failure = undefined
    clock.advance(1_000)
    expect(await looking).toBe('known')
    expect(asked).toHaveLength(2)
    state.failure = away
    const stopped = ends.lookUp([withId(`conversation/1/${farAfter(10)}/0`)])
    await turn()
    ends.close()
    expect(await stopped).toBe('closed')
  })

  it('give an error on which a retry cannot help', async () => {
    const { state, ends } = world()
    state.failure = new WeirError('bus.topic-missing', 'gone')
    await expect(ends.lookUp([withId('conversation/1/3/0')])).rejects.toThrow('gone')
  })
})
