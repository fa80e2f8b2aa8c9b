// The measured difference between the brokers' clock and this machine's.

import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { brokersClock, createClockSkew, skewText } from '../../../../shared/bus/kafka/clock-skew.ts'
import { handClock } from '../hand-clock.ts'

const hour = 3_600_000

/** A broker whose clock is `aheadMs` ahead of the machine's when the test begins. */
function world(aheadMs: number) {
  const clock = handClock()
  let brokerWall = clock.now() + aheadMs
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line).msg) })
  const skew = createClockSkew(clock, log)
  function pass(ms: number): void {
    clock.advance(ms)
    brokerWall += ms
  }
  /** A write that takes `there` until the broker, and `back` from it. */
  function write(there: number, back: number, meanwhile = () => {}): void {
    const measured = skew.begin()
    pass(there)
    const appendTime = Math.floor(brokerWall)
    meanwhile()
    pass(back)
    measured(appendTime)
  }
  return { clock, skew, lines, pass, write, trueMs: () => brokerWall - clock.now() }
}

describe('the skew of the clocks', () => {
  it('is unknown before the first write', () => {
    expect(world(hour).skew.measuredMs).toBeUndefined()
  })

  it.each([
    ['an hour behind', hour],
    ['an hour ahead', -hour],
    ['in time', 0],
    ['two milliseconds ahead', -2],
  ])(
    'of a machine %s is never above the true one, and at most a request below it',
    (_, aheadMs) => {
      const { write, skew, trueMs } = world(aheadMs)
      for (const [there, back] of [
        [40, 60],
        [3, 2],
        [500, 1],
        [1, 900],
      ] as const) {
        write(there, back)
        expect(skew.measuredMs).toBeLessThanOrEqual(trueMs())
      }
      expect(skew.measuredMs).toBeGreaterThanOrEqual(trueMs() - 2)
    },
  )

  it('follows a clock that is set in either direction between two writes', () => {
    const { clock, write, skew, trueMs } = world(0)
    for (const step of [hour, -2 * hour, 30_000]) {
      write(2, 2)
      clock.setWall(clock.now() + step)
      write(2, 2)
      expect(Math.abs((skew.measuredMs ?? 0) - trueMs())).toBeLessThanOrEqual(2)
    }
  })

  it('does not come from a write during which the clock was set', () => {
    const { clock, write, skew } = world(0)
    write(2, 2)
    const before = skew.measuredMs
    write(2, 2, () => clock.setWall(clock.now() + hour))
    expect(skew.measuredMs).toBe(before)
  })

  it('is not the time of a slow request', () => {
    const { write, skew, lines } = world(0)
    write(2, 2)
    write(20_000, 20_000)
    expect(Math.abs(skew.measuredMs ?? 0)).toBeLessThanOrEqual(2)
    expect(lines).toEqual([])
  })

  it('is logged once when the clocks differ, and once when they agree again', () => {
    const { clock, write, lines, trueMs } = world(hour)
    for (let n = 0; n < 3; n += 1) write(2, 2)
    clock.setWall(clock.now() + trueMs())
    for (let n = 0; n < 3; n += 1) write(2, 2)
    expect(lines).toEqual([
      "this machine's clock is 3600.0 s behind the brokers': synchronise the clocks by NTP",
      "this machine's clock agrees with the brokers' again",
    ])
    expect(skewText(-1_500)).toBe("this machine's clock is 1.5 s ahead of the brokers'")
  })

  it('makes the clock of the bus show the brokers, and leaves its timers alone', () => {
    const { clock, write, skew, trueMs } = world(-hour)
    const brokers = brokersClock(clock, skew)
    expect(brokers.now()).toBe(clock.now())
    write(1, 1)
    expect(Math.abs(brokers.now() - clock.now() - trueMs())).toBeLessThanOrEqual(1)
    expect(brokers.monotonic()).toBe(clock.monotonic())
  })
})
