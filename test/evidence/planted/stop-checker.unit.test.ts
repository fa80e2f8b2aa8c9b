// The checker of stops with violations planted in a sound run. A checker that never reports anything
// proves nothing. Tools of the sound run start at 116.

import { describe, expect, it } from '@jest/globals'
import type { OperatorStop } from '../../../shared/contract/messages.ts'
import { noStartAfterStop, startsInStops } from '../checkers/calls/no-start-after-stop.ts'
import { type ChaosEvidence, logged, type Sketch, soundRun } from './sound-run.ts'

type Stop = Pick<OperatorStop, 'scope' | 'name'> & { from: number; until?: number }

const pay: Stop = { scope: 'tool', name: 'pay', from: 200 }

/** The sound run with a stop, and with its first tool started at `at`. */
function runWith({ scope, name, from, until }: Stop, at: number): ChaosEvidence {
  const run = soundRun()
  const message = { type: 'operator-stop' as const, scope, name }
  const key = `stop:${scope}:${name}`
  const record = logged({ topic: 'policies', offset: 0, time: from, message, id: undefined })
  run.records.push({ ...record, key })
  if (until !== undefined)
    run.records.push({ ...record, key, offset: 1, time: until, message: undefined })
  for (const { message } of run.records)
    if (message?.type === 'round-cleared') message.agent = 'worker'
  const [first] = run.starts
  if (first !== undefined) first.at = at
  return run
}

const problems = async (run: ChaosEvidence) =>
  (await noStartAfterStop.check(run)).map(({ problem }) => problem)

describe('the checker of stops', () => {
  it('reports a tool that starts later than the bound after its stop', async () => {
    expect(await problems(runWith(pay, 1_201))).toEqual([
      '["c",0,1,0] (pay) started 1001 ms after stop:tool:pay; at most 1000 ms are allowed',
    ])
  })

  it('reports a tool of a stopped agent', async () => {
    const agent: Stop = { scope: 'agent', name: 'worker', from: 200 }
    expect(await problems(runWith(agent, 5_000))).toHaveLength(1)
    expect(await problems(runWith({ ...agent, name: 'other' }, 5_000))).toEqual([])
  })

  it('reports a tool of a stopped conversation, and of an agent below it', async () => {
    const tree: Stop = { scope: 'conversation', name: 'c', from: 200 }
    expect(await problems(runWith(tree, 5_000))).toHaveLength(1)
    expect(await problems(runWith({ ...tree, name: 'd' }, 5_000))).toEqual([])
    const below = runWith(tree, 100)
    const call = JSON.stringify(['call/c/0/1/0~2', 0, 1, 0])
    below.starts.push({ call, tool: 'pay', process: 'executor-1#1', at: 5_000 })
    expect(await problems(below)).toHaveLength(1)
  })

  it('reports a call that a guest ran in a stopped tree', async () => {
    const run = runWith({ scope: 'conversation', name: 'guest:guest:g', from: 200 }, 100)
    const ran = { conversation: 'g.1', root: 'guest:guest:g', text: '', call: { mark: 'm' } }
    run.guestRuns = [
      { ...ran, at: 900 },
      { ...ran, at: 1_500 },
    ]
    expect(await problems(run)).toEqual([
      'call m of the guest g.1 started 1300 ms after stop:conversation:guest:guest:g; at most 1000 ms are allowed',
    ])
    run.guestRuns = [{ ...ran, root: 'h', at: 1_500 }]
    expect(await problems(run)).toEqual([])
  })

  it('reports a model request of a stopped agent that reached the provider', async () => {
    const run = runWith({ scope: 'all', name: '', from: 0 }, 100)
    const place = { conversation: 'c', turn: 0, round: 1, attempt: 'a' }
    for (const [offset, type] of (['attempt-started', 'attempt-finished'] as const).entries())
      run.records.push(
        logged({
          topic: 'model-requests',
          offset: 10 + offset,
          time: 1_500,
          id: undefined,
          message: { type, ...place },
        }),
      )
    expect(await problems(run)).toEqual([
      'attempt a started 1500 ms after stop:all:; at most 1000 ms are allowed',
    ])
  })

  it('goes by the agent of the turn, because the next turn may have another', async () => {
    const run = runWith({ scope: 'agent', name: 'worker', from: 0 }, 100)
    const add = (offset: number, message: Sketch) =>
      run.records.push(
        logged({ topic: 'model-requests', offset, time: 1_500, id: undefined, message }),
      )
    for (const [turn, agent] of ['worker', 'other'].entries()) {
      const place = { conversation: 'c', turn, round: 1 }
      add(20 + turn, { type: 'model-request', ...place, agent })
      for (const [n, type] of (['attempt-started', 'attempt-finished'] as const).entries())
        add(30 + 2 * turn + n, { type, ...place, attempt: agent })
    }
    expect(await problems(run)).toEqual([
      'attempt worker started 1500 ms after stop:agent:worker; at most 1000 ms are allowed',
    ])
  })

  it.each<[string, ChaosEvidence]>([
    ['within the bound', runWith(pay, 1_200)],
    ['before the stop', runWith(pay, 199)],
    ['after the release', runWith({ ...pay, until: 900 }, 5_000)],
    ['of another tool', runWith({ ...pay, name: 'look' }, 5_000)],
  ])('reports no start %s', async (_, run) => expect(await problems(run)).toEqual([]))

  it('excuses a process that was paused meanwhile, and no other', async () => {
    const run = runWith(pay, 5_000)
    const pause = { kind: 'pause' as const, from: 300, to: 4_900 }
    run.disturbances.push({ ...pause, process: 'executor-2#1' })
    expect(await problems(run)).toHaveLength(1)
    run.disturbances.push({ ...pause, process: 'executor-1#1' })
    expect(await problems(run)).toEqual([])
  })

  it('allows more time on a machine whose timers are late', async () => {
    const run = { ...runWith(pay, 1_300), timersLateMs: 70 }
    expect(await problems(run)).toEqual([])
    expect(await problems({ ...run, timersLateMs: 40 })).toHaveLength(1)
  })

  it('measures the time of each start after its stop', async () => {
    expect(startsInStops(runWith(pay, 350)).map(({ ageMs }) => ageMs)).toEqual([150])
  })
})
