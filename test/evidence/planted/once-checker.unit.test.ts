// The checker of `once` with violations planted in a sound run. A checker that never reports anything proves
// nothing.

import { describe, expect, it } from '@jest/globals'
import type { OnceRule } from '../../../shared/contract/messages.ts'
import { onceEffects } from '../checkers/calls/once-effects.ts'
import { logged, type Sketch, soundRun } from './sound-run.ts'

type Call = { conversation: string; raw: string; status?: string; startsAt?: number; end?: number }

/** Calls of `mail`, each in its own conversation, claimed at 10 and ended as named. */
async function problems(rule: Partial<OnceRule>, ...calls: Call[]): Promise<string[]> {
  const run = { ...soundRun(), records: [], starts: [] } as ReturnType<typeof soundRun>
  const once = { by: ['to'], forMs: 10_000, within: 'conversation', ...rule }
  const declaration = { name: 'mail', idempotent: false, timeoutMs: 60_000, hints: { once } }
  const guard = { name: 'once', tools: [{ pattern: '*', mode: 'shadow' }] }
  const policy = { startWithinMs: 1_000, graceMs: 1_000, toolTries: 1, guards: [guard] }
  for (const [n, { conversation, raw, status, startsAt, end = 500 }] of calls.entries()) {
    const round = { conversation, turn: n, round: 1 }
    const add = (time: number, message: Sketch, id?: string) =>
      run.records.push(
        logged({ topic: 'rounds-cleared', offset: run.records.length, time, id, message }),
      )
    const call = { ordinal: 0, name: 'mail', raw, problem: null }
    const stamped = { declarations: [declaration], policy, decided: [], expiresAt: 90_000 }
    add(5, { type: 'round-cleared', ...round, calls: [call], ...stamped }, `loop-detector/0/${n}/0`)
    const claim = { ...round, ordinal: 0, try: 1, owner: 'o' }
    add(10, { type: 'claim', ...claim })
    const reason = 'vetoed by guard once: once.done'
    const result = { ordinal: 0, status, text: '', reason, guard: 'once' }
    if (status !== undefined) add(end, { type: 'outcome', ...claim, result })
    const key = JSON.stringify([conversation, n, 1, 0])
    if (startsAt !== undefined)
      run.starts.push({ call: key, tool: 'mail', process: 'executor-1#1', at: startsAt })
  }
  return (await onceEffects.check(run)).map(({ problem }) => problem)
}

const to = (name: string, more = 'x') => JSON.stringify({ to: name, more })

describe('the checker of tools with `once`', () => {
  const paid = { conversation: 'c', raw: to('a'), startsAt: 20 }

  it.each([
    ['is ok', 'ok', 500],
    ['may have run', 'unknown', 500],
    ['timed out', 'timed_out', 500],
    ['has no end', undefined, 500],
    ['fails later', 'error', 2_000],
  ])('reports a second start while the earlier call %s', async (_, status, end) => {
    const first = { ...paid, end, ...(status !== undefined && { status }) }
    const [problem, ...more] = await problems({}, first, {
      ...paid,
      raw: to('a', 'y'),
      startsAt: 900,
    })
    expect(problem).toBe('["c",1,1,0] started 880 ms after ["c",0,1,0] with equal values')
    expect(more).toEqual([])
  })

  it.each<[string, Partial<OnceRule>, Call, Call]>([
    ['after a failure', {}, { ...paid, status: 'error' }, paid],
    ['with other values', {}, { ...paid, status: 'ok' }, { ...paid, raw: to('b') }],
    ['after the time of the rule', { forMs: 700 }, { ...paid, status: 'ok' }, paid],
    ['in another conversation', {}, { ...paid, status: 'ok' }, { ...paid, conversation: 'd' }],
    ['with another argument that counts', { by: [] }, paid, { ...paid, raw: to('a', 'y') }],
  ])('allows a second start %s', async (_, rule, first, second) => {
    expect(await problems(rule, first, { ...second, startsAt: 900 })).toEqual([])
  })

  it('counts the calls of agents below, and with `tenant` those of all conversations', async () => {
    const below = { ...paid, conversation: 'call/c/0/1/0', startsAt: 900 }
    expect(await problems({}, paid, below)).toHaveLength(1)
    const beside = { ...paid, conversation: 'd', startsAt: 900 }
    expect(await problems({ within: 'tenant' }, paid, beside)).toHaveLength(1)
  })

  it('reports a denial for an earlier call that never was', async () => {
    const denied = { conversation: 'c', raw: to('a'), status: 'denied' }
    expect(await problems({}, denied)).toEqual([
      '["c",0,1,0] is denied for an earlier call that never was',
    ])
    expect(await problems({}, paid, denied)).toEqual([])
  })
})
