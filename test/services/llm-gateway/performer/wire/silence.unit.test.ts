import { describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../../../../client/testing/fake-clock.ts'
import { watchSilence } from '../../../../../services/llm-gateway/performer/wire/silence.ts'
import type { Clock } from '../../../../../shared/lib/clock.ts'

/**
 * A watch with limits of 100 ms without a byte and 250 ms without an answer, and the limits that it
 * reported.
 */
function watched(clock: Clock, first = 100) {
  const told: string[] = []
  return {
    told,
    watch: watchSilence(clock, { first, silent: 100, wordless: 250 }, (limit) => told.push(limit)),
  }
}

describe('a silence', () => {
  it('is too long once its limit passes without a byte', () => {
    const clock = fakeClock(0)
    const { told, watch } = watched(clock)
    clock.advance(60)
    watch.onBytes()
    clock.advance(99)
    expect(told).toEqual([])
    clock.advance(1)
    expect(told).toEqual(['silent'])
    clock.advance(1000)
    expect(told).toEqual(['silent'])
  })

  it('before the first byte is too long sooner, and a byte ends that limit', () => {
    const clock = fakeClock(0)
    const { told } = watched(clock, 30)
    const { told: later, watch } = watched(clock, 30)
    clock.advance(29)
    watch.onBytes()
    expect(told).toEqual([])
    clock.advance(1)
    expect(told).toEqual(['first'])
    clock.advance(98)
    expect(later).toEqual([])
    clock.advance(1)
    expect(later).toEqual(['silent'])
  })

  it('before the first byte is never longer than the limit without a byte', () => {
    const clock = fakeClock(0)
    const { told } = watched(clock, 1_000)
    clock.advance(100)
    expect(told).toEqual(['silent'])
  })

  it('with keep-alives is too long once its limit passes without an answer', () => {
    const clock = fakeClock(0)
    const { told, watch } = watched(clock)
    for (let n = 0; n < 5; n += 1) {
      clock.advance(50)
      watch.onBytes()
      if (n === 0) watch.onAnswer()
    }
    expect(told).toEqual([])
    clock.advance(50)
    expect(told).toEqual(['wordless'])
  })

  it('does not count while we are slow', () => {
    const clock = fakeClock(0)
    const { told, watch } = watched(clock)
    watch.pause()
    clock.advance(1000)
    watch.resume()
    clock.advance(99)
    expect(told).toEqual([])
    clock.advance(1)
    expect(told).toEqual(['silent'])
  })

  it('is not reported by a stopped watch', () => {
    const clock = fakeClock(0)
    const { told, watch } = watched(clock)
    watch.stop()
    clock.advance(1000)
    expect(told).toEqual([])
  })

  it('in which our own process stood still is looked at again when the socket has been read', () => {
    const slow = stoppedClock()
    const { told, watch } = watched(slow.clock)
    slow.standStill(5000)
    expect(told).toEqual([])
    watch.onBytes() // the bytes from the socket
    slow.fire()
    slow.pass(99)
    slow.fire()
    expect(told).toEqual([])
    slow.standStill(5000)
    slow.fire() // and this time nothing had
    expect(told).toEqual(['silent'])
  })
})

/** A clock with one timer, which fires when the test says. */
function stoppedClock() {
  let now = 0
  let timer: { at: number; fire: () => void } | undefined
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after(delayMs, fire) {
      timer = { at: now + delayMs, fire }
      return () => (timer = undefined)
    },
  }
  const fire = (): void => {
    const due = timer !== undefined && timer.at <= now ? timer : undefined
    if (due !== undefined) timer = undefined
    due?.fire()
  }
  return {
    clock,
    fire,
    pass: (ms: number) => (now += ms),
    standStill(ms: number) {
      now += ms
      fire()
    },
  }
}
