import { describe, expect, it } from '@jest/globals'
import { noticeOf, watchForSilence } from '../../../apps/terminal/silence.ts'
import { fakeClock } from '../../../client/testing/fake-clock.ts'
import type { Turn } from '../../../client/turn/turn.ts'
import type { TurnEvent } from '../../../client/turn/turn-event.ts'
import { stageNames } from '../../../shared/contract/topology.ts'

const waiting: TurnEvent = { v: 2, position: '0', type: 'turn-waiting', conversation: 'c' }

async function* none(): AsyncGenerator<never> {}
const nothingElse = { events: none(), textStream: none() }

/** A turn with events under the control of the test. */
function scripted() {
  const events: ReturnType<typeof Promise.withResolvers<IteratorResult<TurnEvent>>>[] = []
  const turn: Turn = {
    conversation: 'c',
    messageId: 'm',
    sent: Promise.resolve(),
    finished: new Promise<never>(() => {}),
    output: new Promise(() => {}),
    cancel: async () => {},
    call: async () => undefined,
    result: async () => undefined,
    ...nothingElse,
    [Symbol.asyncIterator]: () => ({
      next() {
        const event = Promise.withResolvers<IteratorResult<TurnEvent>>()
        events.push(event)
        return event.promise
      },
    }),
  }
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

describe('the watch for silence', () => {
  it('reports silence once, and whether an event came before', async () => {
    const clock = fakeClock(0)
    const script = scripted()
    const reports: boolean[] = []
    const reading = readAll(
      watchForSilence(script.turn, clock, async (hadEvents) => void reports.push(hadEvents)),
    )
    clock.advance(4_900)
    await script.event()
    clock.advance(4_900)
    expect(reports).toEqual([])
    clock.advance(200)
    expect(reports).toEqual([true])
    await script.event()
    clock.advance(60_000)
    await script.end()
    await reading
    expect(reports).toEqual([true])
  })

  it('reports silence without any event, and reports none after the end', async () => {
    const reports: boolean[] = []
    const silent = async (hadEvents: boolean) => void reports.push(hadEvents)
    const [clock, script] = [fakeClock(0), scripted()]
    const listening = readAll(watchForSilence(script.turn, clock, silent))
    clock.advance(5_000)
    expect(reports).toEqual([false])
    await script.end()
    await listening

    const ended = scripted()
    const reading = readAll(watchForSilence(ended.turn, clock, silent))
    await ended.end()
    await reading
    clock.advance(60_000)
    expect(reports).toEqual([false])
  })
})

describe('the notice', () => {
  it('names the missing stages and the command that starts them', () => {
    expect(noticeOf(['validator', 'executor'], true)).toBe(
      'no event for 5 s: no process runs validator, executor. Start it: weir up --stages validator,executor. Still waiting; Ctrl-C cancels',
    )
    expect(noticeOf([...stageNames], false)).toMatch(/: no stage runs\. Start them: weir up\./)
    expect(noticeOf(undefined, false)).toMatch(/Do the stages run\?/)
  })

  it('is left out if all stages run and only a step is slow', () => {
    expect(noticeOf([], true)).toBeUndefined()
    expect(noticeOf([], false)).toMatch(/though all stages run/)
  })
})
