// A log is replayed: equal, different and unjudged records.

import { describe, expect, it } from '@jest/globals'
import { replayLog } from '../../../apps/replay/replay-log.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { always, changedLog, rewritten } from './bundled-log.ts'

const atRest = { ...always, grows: false, now: 0 }
const asItIs = (record: StoredRecord) => record

function isRoundOutcome(message: Message, round: number): boolean {
  return message.type === 'round-outcome' && message.round === round
}

describe('replaying a log', () => {
  it('finds equal decisions in an unchanged log', async () => {
    const { tally, differences } = await replayLog({
      log: await changedLog('i1-reflex-loop', asItIs),
      ...atRest,
    })
    expect(differences).toBe(0)
    expect(tally).toMatchObject({ turns: 1, awaited: 0, deleted: 0, unjudged: 0 })
    expect(tally.same).toBeGreaterThan(40)
  })

  it('finds a changed decision with its input', async () => {
    const log = await changedLog('i1-reflex-loop', (record, message) =>
      message.type === 'round-outcome' && message.round === 3
        ? rewritten(record, { ...message, intervention: null })
        : record,
    )
    const { differences, first } = await replayLog({ log, ...atRest })
    // The conversation's request with a nudge does not follow from the changed outcome either.
    expect(differences).toBeGreaterThan(1)
    expect(first).toMatchObject({
      kind: 'differs',
      stage: 'loop-detector',
      input: { topic: 'weir.rounds-checked' },
    })
    expect(first?.inputRecord?.offset).toBe(first?.input.offset)
  })

  it('finds a missing record before later ones of its stage', async () => {
    const log = await changedLog('i1-reflex-loop', (record, message) =>
      isRoundOutcome(message, 2) ? undefined : record,
    )
    const { first } = await replayLog({ log, ...atRest })
    expect(first).toMatchObject({ kind: 'missing', stage: 'loop-detector', logged: undefined })
  })

  it('finds a record that no input leads to', async () => {
    const log = await changedLog('i1-reflex-loop', (record, message) =>
      message.type === 'round-checked' && message.round === 2
        ? { ...record, id: record.id?.replace(/\/0$/, '/7') }
        : record,
    )
    const { first } = await replayLog({ log, ...atRest })
    expect(['missing', 'added']).toContain(first?.kind)
    expect(first?.stage).toBe('validator')
  })

  it('counts records that a slow stage has not written yet as awaited', async () => {
    const log = await changedLog('i1-reflex-loop', (record, message) =>
      record.id?.startsWith('loop-detector/') && 'round' in message && message.round > 1
        ? undefined
        : record,
    )
    const { tally, first } = await replayLog({ log, ...atRest })
    expect(tally.awaited).toBeGreaterThan(0)
    // The conversation's outputs about the missing rounds have no input any more.
    expect(first).toMatchObject({ kind: 'added', stage: 'conversation', inputRecord: undefined })
  })

  it.each([
    ['a log', undefined],
    ['an imported log with whole turns', () => true],
  ])('judges no turn of %s whose beginning was deleted, and names it', async (_, turns) => {
    const whole = await changedLog('i1-reflex-loop', asItIs)
    const log = {
      ...whole,
      turns,
      bus: {
        ...whole.bus,
        ends: async (topic: string) =>
          (await whole.bus.ends(topic)).map((ends) => ({
            ...ends,
            begin: Math.floor(ends.end / 2),
          })),
      },
    }
    const { tally, differences } = await replayLog({ log, ...atRest })
    expect(differences).toBe(0)
    expect(tally.unjudged).toBeGreaterThan(0)
    expect(tally.unjudgedKeys).toContain('i1-reflex-loop')
  })

  it('judges a turn after --since as a whole, and reads earlier records because clocks differ', async () => {
    const whole = await changedLog('i3-no-termination', asItIs)
    const times: number[] = []
    for (const { partition, end } of await whole.bus.ends('weir.conversation-events'))
      for (const { time } of await whole.bus.read({
        topic: 'weir.conversation-events',
        partition,
        from: 0,
        to: end,
        limit: 100,
      }))
        times.push(time)
    const [began = 0] = times
    const behind = await replayLog({ log: whole, ...atRest, since: began - 1 })
    expect(behind).toMatchObject({ differences: 0, tally: { unjudged: 0 } })
    expect(behind.tally.same).toBeGreaterThan(70)
  })

  it('ends at --until, and does not report later records as missing', async () => {
    const whole = await changedLog('i3-no-termination', asItIs)
    const [ends] = (await whole.bus.ends('weir.rounds-checked')).filter(({ end }) => end > 0)
    const [middle] = await whole.bus.read({
      topic: 'weir.rounds-checked',
      partition: ends?.partition ?? 0,
      from: Math.floor((ends?.end ?? 0) / 2),
      limit: 1,
    })
    const { tally, differences } = await replayLog({ log: whole, ...atRest, until: middle?.time })
    expect(differences).toBe(0)
    expect(tally.same).toBeGreaterThan(10)
  })
})
