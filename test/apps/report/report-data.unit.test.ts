import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import {
  conversationLog,
  exec,
  nudge,
  response,
  result,
} from '../../shared/view/conversation-log.ts'
import { longConversation } from './long-conversation.ts'

const where = { partition: 3, topicPrefix: 'weir.' }
const made = (records: ReturnType<typeof longConversation>) =>
  reportData(timelineOf('long', records, { reasoning: true }), records, where)

describe('the data of a report', () => {
  const { data, records } = made(longConversation(12, 6))
  const turn = data.timeline.turns[0]!

  it('have a loop as one run from its first repetition, although evidence names only the newest rounds', () => {
    expect(turn.loops).toMatchObject([
      { from: 7, to: 12, rule: 'identical-failure', key: 'exec({"command":"make"})' },
    ])
    expect(data.figures).toMatchObject({
      rounds: 12,
      loopRounds: 6,
      calls: 12,
      ran: 12,
      stopped: 0,
    })
  })

  it('name for each call the earlier call to compare it with', () => {
    expect(turn.rounds[0]?.found[0]).toEqual({ canonical: null, previous: null })
    expect(turn.rounds[4]?.found[0]?.previous).toEqual({ round: 4, ordinal: 0, same: false })
    expect(turn.rounds[8]?.found[0]?.previous).toEqual({ round: 8, ordinal: 0, same: true })
  })

  it('have the repeat count before and after a round, by the fold of the loop-detector', () => {
    const streak = turn.rounds[9]?.streaks.find(
      ({ rule, what }) => rule === 'identical-failure' && what.startsWith('exec('),
    )
    expect(streak).toMatchObject({ what: 'exec({"command":"make"})', before: 3, after: 4 })
    expect(turn.rounds[2]?.streaks).toEqual([])
  })

  it('have a wait as a wait: its count, and no loop', () => {
    const log = conversationLog()
    log.begin()
    for (let round = 1; round <= 26; round += 1) {
      const sleep = exec({ id: `c${round}`, raw: '{"command":"sleep 5"}' })
      const reply = response({ attempt: `a${round}`, calls: [sleep], stop: 'calls' })
      log.ask(round)
      log.check(round, reply)
      log.clear(round, reply.calls)
      log.executed(round, [result({ text: '' })])
      const waited = { ...nudge, rule: 'still-waiting', evidence: [{ round, ordinal: 0 }] }
      log.conclude(round, reply, [result({ text: '' })], round === 26 ? waited : null)
    }
    const [waiting] = made(log.records).data.timeline.turns
    expect(waiting?.rounds[9]?.streaks).toMatchObject([
      { rule: 'still-waiting', what: 'exec({"command":"sleep 5"})', before: 9, after: 10 },
    ])
    expect(waiting?.loops).toEqual([])
  })

  it('have every record once, under its round or its turn, with its content', () => {
    const [from, to] = turn.rounds[0]!.records
    const types = records.rows.slice(from, to).map((row) => records.types[Number(row[4])]?.type)
    expect(types).toEqual(
      expect.arrayContaining([
        'model-request',
        'part',
        'round-checked',
        'claim',
        'outcome',
        'round-outcome',
      ]),
    )
    const places = [
      ...turn.rounds.map((round) => round.records),
      turn.records,
      data.records,
    ].flatMap(([first, end]) => Array.from({ length: end - first }, (_, index) => first + index))
    expect(places.toSorted((a, b) => a - b)).toEqual(records.rows.map((_, index) => index))
    const checked = records.rows[from + types.indexOf('round-checked')]!
    const shape = records.types[Number(checked[4])]!
    const response = records.values[Number(checked[5 + shape.fields.indexOf('response')])]
    expect(response).toMatchObject({ attempt: 'a1', calls: [{ name: 'exec' }] })
  })

  it('store values that several records share once', () => {
    const texts = records.values.map((value) => JSON.stringify(value))
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('show arguments in the form of the detector only if they differ from the sent ones', () => {
    const log = conversationLog()
    const calls = [exec({ raw: '{"command": ""}' }), exec({ ordinal: 1, raw: '{"command":"ls"}' })]
    const reply = response({ calls, stop: 'calls' })
    log.begin()
    log.ask(1)
    log.check(1, reply)
    log.conclude(1, reply, [result(), result({ ordinal: 1 })])
    const found = made(log.records).data.timeline.turns[0]?.rounds[0]?.found
    expect(found?.map(({ canonical }) => canonical)).toEqual(['{}', null])
    expect(found?.map(({ previous }) => previous)).toEqual([null, null])
  })

  it('limit an open turn by the time of the read, and others by their end', () => {
    const log = conversationLog()
    log.begin()
    log.ask(1)
    const until = (readAt?: number) =>
      reportData(timelineOf('c', log.records, { reasoning: false }), log.records, {
        ...where,
        ...(readAt && { readAt }),
      }).data
    const { startedAt } = until().timeline.turns[0]!
    expect(until().figures.ms).toBe(log.records.at(-1)!.time - startedAt)
    expect(until(startedAt + 90_000).figures.ms).toBe(90_000)
    log.end('done')
    const [turn] = until(startedAt + 90_000).timeline.turns
    expect(until(startedAt + 90_000).figures.ms).toBe(turn?.end?.totals.wallMs)
  })

  it('assign a message to the turn that answers it', () => {
    const [from, to] = data.timeline.turns[0]!.records
    expect(
      records.rows.slice(from, to).map((row) => records.types[Number(row[4])]?.type),
    ).toContain('user-message')
  })

  it('go as far as possible if the detector cannot process a record', () => {
    const records = longConversation(4, 0)
    const broken = records.find(
      ({ message }) => message?.type === 'round-checked' && message.round === 3,
    )!
    broken.message = { ...broken.message, response: null } as never
    expect(() => made(records)).not.toThrow()
  })
})
