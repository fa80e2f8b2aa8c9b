// An operator's stop in the executor: its effect on calls as records, and the performer with a
// table of stops.

import { describe, expect, it } from '@jest/globals'
import { startExecutor } from '../../../services/executor/performer/performer.ts'
import { executor } from '../../../services/executor/reducer.ts'
import type {
  CallsStopped,
  GuardInForce,
  Message,
  RoundExecuted,
  StopInForce,
} from '../../../shared/contract/messages.ts'
import type { PolicyRecord } from '../../../shared/contract/performer.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import { stopLookMs } from '../../../shared/runtime/settings/stop-watch.ts'
import { given } from '../../support/given.ts'
import { agents, fakeTools, inbox, settled, testClock } from './performer-world.ts'
import { callOf, claim, lapsed, ok, outcome, place, policy, roundCleared } from './samples.ts'

function stopOf(fields: Partial<StopInForce> = {}): StopInForce {
  return { scope: 'all', name: '', mode: 'drain', reason: 'wrong transfers', ...fields }
}

const now = stopOf({ mode: 'now' })
const noMail = stopOf({ scope: 'tool', name: 'm*' })

function stopped(stop: StopInForce, ordinals = [0]): CallsStopped {
  return { type: 'calls-stopped', ...place, round: 1, ordinals, stop }
}

function resultsIn(messages: Message[]): RoundExecuted['results'] | undefined {
  return messages.find((message) => message.type === 'round-executed')?.results
}

describe('a call that an operator stopped', () => {
  it('is skipped with the reason if it is ready', () => {
    const folded = given(executor, roundCleared(), stopped(stopOf()))
    expect(resultsIn(folded.to('verdict'))).toMatchObject([
      {
        status: 'skipped',
        text: 'This call was not run: an operator stopped all agents: wrong transfers.',
        reason: 'an operator stopped all agents: wrong transfers',
      },
    ])
    expect(folded.wants).toEqual([])
    expect(folded.when(claim('a')).wants).toEqual([])
  })

  it('is denied if only its tool is stopped, so the model knows not to repeat it', () => {
    const folded = given(executor, roundCleared(), stopped(noMail))
    const [result] = resultsIn(folded.to('verdict')) ?? []
    expect(result?.status).toBe('denied')
    expect(result?.text).toContain('an operator stopped tool "m*": wrong transfers')
    expect(result?.text).toContain('Do not retry it')
  })

  it('is skipped while it waits for a guard, and no verdict lets it run', () => {
    const guard: GuardInForce = {
      name: 'shell',
      version: '1',
      tools: [{ pattern: '*', mode: 'enforce' }],
      deadlineMs: 5_000,
      onTimeout: 'allow',
      rules: null,
    }
    const waiting = given(executor, roundCleared({ policy: { ...policy, guards: [guard] } }))
    expect(waiting.wants).toMatchObject([{ kind: 'await-verdict' }])
    const folded = waiting.when(stopped(stopOf()))
    expect(resultsIn(folded.to('verdict'))).toMatchObject([{ status: 'skipped' }])
    expect(folded.wants).toEqual([])
  })

  it('ends normally if it is claimed and the stop drains', () => {
    const claimed = given(executor, roundCleared(), claim('a'), stopped(stopOf()))
    expect(claimed.wants).toMatchObject([{ kind: 'run', cancelled: false, stopReason: undefined }])
    expect(resultsIn(claimed.when(outcome('a', ok())).to('verdict'))).toMatchObject([
      { status: 'ok' },
    ])
  })

  it('is to be stopped if it is claimed and the stop is at now; its outcome still decides', () => {
    const claimed = given(executor, roundCleared(), claim('a'), stopped(now))
    expect(claimed.wants).toMatchObject([
      {
        kind: 'run',
        cancelled: true,
        stopReason: 'an operator stopped all agents: wrong transfers',
      },
    ])
    expect(resultsIn(claimed.when(outcome('a', ok())).to('verdict'))).toMatchObject([
      { status: 'ok' },
    ])
    expect(resultsIn(claimed.when(outcome('a', null)).to('verdict'))).toMatchObject([
      { status: 'skipped', reason: 'an operator stopped all agents: wrong transfers' },
    ])
  })

  it('has an unknown outcome if an earlier try may have run', () => {
    const round = roundCleared({ calls: [callOf(0, { name: 'look' })] })
    const folded = given(executor, round, claim('a'), lapsed('a'), stopped(stopOf()))
    expect(resultsIn(folded.to('verdict'))).toMatchObject([{ status: 'unknown' }])
  })

  it('keeps its result, and calls that the record does not name are ready', () => {
    const two = roundCleared({ calls: [callOf(0), callOf(1)] })
    const done = given(executor, two, claim('a'), outcome('a', ok()), stopped(now))
    expect(done.records).toEqual([])
    expect(done.wants).toMatchObject([{ kind: 'claim', ordinal: 1 }])
  })

  it('is refused on arrival by a stop in the policy of its round, and other tools run', () => {
    const folded = given(
      executor,
      roundCleared({
        policy: { ...policy, stops: [noMail] },
        calls: [callOf(0), callOf(1, { name: 'look' })],
      }),
    )
    expect(folded.wants).toMatchObject([{ kind: 'claim', ordinal: 1 }])
    expect(folded.to('activity')).toMatchObject([{ ordinal: 0, status: 'denied' }])
  })
})

describe('an executor with stops in its table', () => {
  function world() {
    const clock = testClock()
    const tools = fakeTools()
    const table: PolicyRecord[] = []
    const { append, own, outputs } = inbox(clock)
    const owner = own('a', startExecutor({ agents, run: tools.run }), {
      policies: async (...prefixes) =>
        table.filter(({ key }) => prefixes.some((prefix) => key.startsWith(prefix))),
    })
    const stop = (fields: Partial<StopInForce> = {}) => {
      const message = { type: 'operator-stop' as const, ...stopOf(fields), setBy: 'anna', setAt: 1 }
      table.splice(0, table.length, { key: keyOf(message), message, time: 0 })
    }
    const look = async () => {
      clock.pass(stopLookMs)
      await settled()
    }
    const cleared = (fields: Partial<ReturnType<typeof roundCleared>> = {}) =>
      append(roundCleared({ expiresAt: 1e9, ...fields }))
    return { owner, outputs, tools, table, clock, stop, look, cleared }
  }

  it.each<[string, Partial<StopInForce>, string]>([
    ['all agents', {}, 'skipped'],
    ['its agent', { scope: 'agent', name: 'agent' }, 'skipped'],
    ['its conversation', { scope: 'conversation', name: 'c' }, 'skipped'],
    ['its tool', { scope: 'tool', name: 'ma*' }, 'denied'],
  ])('starts no tool after a claim after a stop of %s', async (_, stop, status) => {
    const { cleared, stop: set, tools, outputs } = world()
    set(stop)
    cleared()
    await settled()
    expect(tools.started).toEqual([])
    expect(resultsIn(outputs)).toMatchObject([{ status }])
  })

  it.each<[string, Partial<StopInForce>]>([
    ['agent', { scope: 'agent', name: 'other' }],
    ['conversation', { scope: 'conversation', name: 'd' }],
    ['tool', { scope: 'tool', name: 'look' }],
  ])('starts a tool while another %s is stopped', async (_, stop) => {
    const { cleared, stop: set, tools } = world()
    set(stop)
    cleared()
    await settled()
    expect(tools.started).toHaveLength(1)
  })

  it('starts no tool while a stop cannot be read', async () => {
    const { cleared, table, tools } = world()
    const message: Message = { type: 'operator-limits', caps: policy.caps }
    table.push({ key: 'stop:all', message, time: 0 })
    cleared()
    await settled()
    expect(tools.started).toEqual([])
  })

  it('lets a running tool end at drain', async () => {
    const { cleared, stop, look, tools, outputs } = world()
    cleared()
    await settled()
    stop()
    await look()
    await look()
    expect(tools.started[0]?.stops).toEqual([])
    await tools.started[0]?.end()
    expect(resultsIn(outputs)).toMatchObject([{ status: 'ok' }])
  })

  it('stops a running tool at now with the reason, once', async () => {
    const { cleared, stop, look, tools } = world()
    cleared()
    await settled()
    stop({ mode: 'now' })
    await look()
    await look()
    expect(tools.started[0]?.stops).toEqual([
      { graceMs: policy.graceMs, why: 'an operator stopped all agents: wrong transfers' },
    ])
  })

  it('starts again after the release', async () => {
    const { cleared, stop, table, tools } = world()
    stop()
    cleared()
    await settled()
    table.splice(0)
    cleared({ round: 2 })
    await settled()
    expect(tools.started).toHaveLength(1)
  })

  it('looks for no stops when nothing is at work', async () => {
    const { cleared, stop, look, tools, owner } = world()
    cleared()
    await settled()
    await tools.started[0]?.end()
    const written = owner.written.length
    stop({ mode: 'now' })
    await look()
    await look()
    expect(owner.written).toHaveLength(written)
  })
})
