import { describe, expect, it } from '@jest/globals'
import { hearingSilence, noticeOf } from '../../../apps/terminal/silence.ts'
import type { Turn } from '../../../client/turn.ts'
import type { TurnEvent } from '../../../client/turn-events.ts'
import { stageNames } from '../../../shared/contract/topology.ts'
import { manualClock } from '../../support/manual-clock.ts'

const waiting: TurnEvent = { type: 'turn-waiting', conversation: 'c' }

/** A turn whose events come when the test says so. */
function scripted() {
  const events: ReturnType<typeof Promise.withResolvers<IteratorResult<TurnEvent>>>[] = []
  const turn = {
    conversation: 'c',
    messageId: 'm',
    finished: new Promise<never>(() => {}),
    cancel: async () => {},
    [Symbol.asyncIterator]: () => ({
      next() {
        const event = Promise.withResolvers<IteratorResult<TurnEvent>>()
        events.push(event)
        return event.promise
      },
    }),
  } satisfies Turn
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    turn,
    async event() {
      events.at(-1)?.resolve({ done: false, value: waiting })
      await settled()
    },
    async end() {
      events.at(-1)?.resolve({ done: true, value: undefined })
      await settled()
    },
  }
}

async function readAll(turn: Turn): Promise<void> {
  for await (const _ of turn);
}

describe('who waits for a turn', () => {
  it('is told of silence once, and whether anything was heard before', async () => {
    const clock = manualClock(0)
    const script = scripted()
    const told: boolean[] = []
    const reading = readAll(
      hearingSilence(script.turn, clock, async (heard) => void told.push(heard)),
    )
    clock.advance(4_900)
    await script.event()
    clock.advance(4_900)
    expect(told).toEqual([])
    clock.advance(200)
    expect(told).toEqual([true])
    await script.event()
    clock.advance(60_000)
    await script.end()
    await reading
    expect(told).toEqual([true])
  })

  it('is told when nothing was ever heard, and nothing after the end', async () => {
    const told: boolean[] = []
    const silent = async (heard: boolean) => void told.push(heard)
    const [clock, script] = [manualClock(0), scripted()]
    const listening = readAll(hearingSilence(script.turn, clock, silent))
    clock.advance(5_000)
    expect(told).toEqual([false])
    await script.end()
    await listening

    const ended = scripted()
    const reading = readAll(hearingSilence(ended.turn, clock, silent))
    await ended.end()
    await reading
    clock.advance(60_000)
    expect(told).toEqual([false])
  })
})

describe('the notice', () => {
  it('names what nobody runs and how to run it', () => {
    expect(noticeOf(['validator', 'executor'], true)).toBe(
      'nothing was heard for 5 s: nobody runs validator, executor. weir up --stages validator,executor does. Still waiting; Ctrl-C cancels',
    )
    expect(noticeOf([...stageNames], false)).toMatch(/: no stage runs\. weir up starts them\./)
    expect(noticeOf(undefined, false)).toMatch(/Do the stages run\?/)
  })

  it('is left out where all run and only something takes its time', () => {
    expect(noticeOf([], true)).toBeUndefined()
    expect(noticeOf([], false)).toMatch(/though all stages run/)
  })
})
