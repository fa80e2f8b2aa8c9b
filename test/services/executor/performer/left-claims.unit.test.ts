// The claims that a dead owner left, and the next owner of the partition.

import { describe, expect, it } from '@jest/globals'
import type { KeptTools, Left } from '../../../../services/executor/performer/kept/kept-tools.ts'
import { startExecutor } from '../../../../services/executor/performer/performer.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import {
  agents,
  fakeTools,
  inbox,
  type OwnerOptions,
  settled,
  testClock,
} from '../performer-world.ts'
import { cancel, claim, claimMs, roundCleared, tick, turnEnded } from '../samples.ts'

const stillRunning = () => ({ state: 'running' as const, stop: () => stops.push('stop') })
let stops: string[] = []

/** A partition whose owner died with a claimed call. `left`: the state of that call's tool. */
function world(left: Left, options: OwnerOptions = {}) {
  stops = []
  const state = { left, asked: [] as [string, boolean][], removed: 0 }
  const clock = testClock()
  const tools = fakeTools({ startable: true })
  const kept = {
    start: tools.run,
    forget: () => {},
    find(of: { owner: string }, isDead: boolean) {
      state.asked.push([of.owner, isDead])
      return state.left
    },
  } as unknown as KeptTools
  const all = inbox(clock)
  all.append(roundCleared())
  all.append(claim('dead'))
  const owner = all.own('next', startExecutor({ agents, run: tools.run, kept }), options)
  const ended = (text: string, fields = {}): Left => ({
    state: 'ended',
    result: { ending: { status: 'ok', text, reason: '', ...fields }, durationMs: 40 },
    remove: () => {
      state.removed += 1
    },
  })
  return { ...all, clock, tools, owner, state, ended }
}

const typesOf = (messages: Message[]) => messages.map(({ type }) => type)

describe('the call of an agent whose executor was killed', () => {
  it('is cancelled once, also if the cancel comes after the next owner', async () => {
    const calls: unknown[] = []
    const run = {
      kind: 'function',
      run: async () => '',
      runsAgent: 'helper',
      cancelAgent: async (call: unknown) => {
        calls.push(call)
      },
    } as const
    const withAgent = new Map(
      [...agents].map(([name, agent]) => [
        name,
        { ...agent, tools: agent.tools.map((tool) => ({ ...tool, run })) },
      ]),
    )
    const clock = testClock()
    const all = inbox(clock)
    all.append(roundCleared())
    all.append(claim('dead'))
    all.own('next', startExecutor({ agents: withAgent, run: fakeTools({ startable: true }).run }))
    await settled()
    expect(calls).toEqual([])
    for (const record of [cancel, cancel]) all.append(record)
    await settled()
    expect(calls).toMatchObject([{ idempotencyKey: '["c",7,1,0]', caller: { redact: [] } }])
  })
})

describe('a tool that outlived its owner', () => {
  it('is waited for, and its result is the outcome of its own claim', async () => {
    const { clock, owner, state, ended, outputs, tools } = world(stillRunning())
    await settled()
    expect(owner.written).toEqual([])
    state.left = ended('done')
    clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(owner.written).toMatchObject([
      { type: 'outcome', try: 1, owner: 'dead', result: { status: 'ok', text: 'done' } },
    ])
    expect(outputs).toMatchObject([
      { type: 'call-finished', status: 'ok', durationMs: 40 },
      { type: 'round-executed', results: [{ status: 'ok', text: 'done' }] },
    ])
    expect(state.removed).toBe(1)
    expect(tools.started).toEqual([])
  })

  it('does not lapse while it runs, even if the bus proves that its owner is dead', async () => {
    const { clock, owner, state } = world(stillRunning(), { formerOwnersDead: true })
    clock.pass(limits.leftClaimLookMs * 3)
    await settled()
    expect(owner.written).toEqual([])
    expect(state.asked.at(-1)).toEqual(['dead', true])
    state.left = { state: 'absent' }
    clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(typesOf(owner.written)).toEqual(['lapsed'])
  })

  it.each([
    ['lapses at once', 'dead', ['lapsed']],
    ['waits for its deadline', 'another', []],
  ])('%s if the bus proves the end of the process of %s', async (_, ended, written) => {
    const { owner, outputs, state } = world(
      { state: 'absent' },
      { hasEnded: (name) => name === ended },
    )
    await settled()
    expect(typesOf(owner.written)).toEqual(written)
    expect(state.asked[0]).toEqual(['dead', ended === 'dead'])
    expect(outputs.map(({ type }) => type).includes('round-executed')).toBe(ended === 'dead')
  })

  it('is stopped when its turn is cancelled', async () => {
    const { append, owner, outputs, state, ended, clock } = world(stillRunning())
    append(cancel)
    await settled()
    expect(stops).toEqual(['stop'])
    state.left = ended('finished after the stop')
    clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(typesOf(owner.written)).toEqual(['outcome'])
    expect(outputs).toMatchObject([
      { type: 'call-finished', status: 'ok' },
      { type: 'round-executed' },
    ])
  })

  it('is stopped when its turn ended, and its result is not reported', async () => {
    const { append, owner, state, ended, clock } = world(stillRunning())
    append(turnEnded)
    await settled()
    expect(stops).toEqual(['stop'])
    state.left = ended('too late')
    clock.pass(limits.leftClaimLookMs * 2)
    await settled()
    expect(owner.written).toEqual([])
  })

  it('has an unknown outcome when its claim is over first, and its late result changes nothing', async () => {
    const { clock, append, state, ended, outputs, owner } = world(stillRunning())
    clock.pass(claimMs)
    append(tick)
    await settled()
    expect(outputs).toMatchObject([
      { type: 'call-finished', status: 'unknown' },
      { type: 'round-executed' },
    ])
    state.left = ended('too late')
    clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(owner.written).toEqual([])
  })

  it('is claimed again if it never started', async () => {
    const { owner, ended, state, clock, tools } = world(stillRunning())
    state.left = ended('', { status: 'skipped', isGivenBack: true })
    clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(owner.written).toMatchObject([
      { type: 'outcome', owner: 'dead', result: null },
      { type: 'claim', owner: 'next', try: 2 },
    ])
    expect(tools.started).toHaveLength(1)
  })

  it('is left alone by an owner that closes', async () => {
    const { owner, state, ended, clock } = world(stillRunning())
    await owner.close('lost')
    state.left = ended('for the next one')
    clock.pass(limits.leftClaimLookMs * 2)
    await settled()
    expect(owner.written).toEqual([])
    expect(stops).toEqual([])
    expect(state.removed).toBe(0)
  })

  it('keeps its files when the bus refuses the outcome', async () => {
    const all = world(stillRunning(), { write: () => Promise.reject(new Error('it is gone')) })
    all.state.left = all.ended('done')
    all.clock.pass(limits.leftClaimLookMs)
    await settled()
    expect(all.outputs).toEqual([])
    expect(all.state.removed).toBe(0)
  })
})
