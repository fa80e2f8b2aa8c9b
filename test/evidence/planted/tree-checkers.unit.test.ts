// The checkers of trees with violations planted in a sound run. A checker that never reports anything proves
// nothing.

import { describe, expect, it } from '@jest/globals'
import { starts } from '../checkers/calls/starts.ts'
import { guestTrees } from '../checkers/guests/guest-trees.ts'
import { treeCaps } from '../checkers/trees/tree-caps.ts'
import { treeSums } from '../checkers/trees/tree-sums.ts'
import type { GuestChild, Start } from '../evidence.ts'
import { type ChaosEvidence, logged, type Sketch, soundRun } from './sound-run.ts'

const callOf = (conversation: string, ordinal: number) =>
  JSON.stringify([conversation, 0, 1, ordinal])
const childOf = (conversation: string, ordinal: number) => `call/${conversation}/0/1/${ordinal}`

/** A storm of the root `c`: each call has its place at 1000, starts at 2000, and is reported at 3000. */
function storm({ starts, caps = {} }: { starts: [call: string, at: number][]; caps?: object }) {
  const run: ChaosEvidence = { ...soundRun(), records: [], starts: [], childTools: ['delegate'] }
  const tree = { depth: 2, atOnce: 2, children: 3, ...caps }
  const add = (topic: string, time: number, message: Sketch) =>
    run.records.push(logged({ topic, offset: run.records.length, time, id: undefined, message }))
  add('client-messages', 0, {
    type: 'user-message',
    conversation: 'c',
    messageId: 'm',
    settings: { policy: { tree } },
  })
  const budgets = [
    { id: 'tree.atOnce', window: 'tree', unit: 'running', hard: tree.atOnce },
    { id: 'tree.children', window: 'tree', unit: 'children', hard: tree.children },
  ]
  for (const [call, at] of starts) {
    const start: Start = { call, tool: 'delegate', process: 'executor-1#1', at }
    run.starts.push(start)
    const [conversation, turn, round, ordinal] = JSON.parse(call) as [
      string,
      number,
      number,
      number,
    ]
    const reserved = { attempt: call, children: 1, expiresAt: 60_000, budgets, tree: '["c",0]' }
    add('budgets', 1_000, { type: 'budget-reserved', ...reserved })
    const of = { conversation, turn, round, ordinal }
    add('rounds-cleared', at + 1_000, { type: 'outcome', ...of, result: { status: 'ok' } })
  }
  return run
}

const problemsOf = async (checker: typeof treeCaps, run: ChaosEvidence) =>
  (await checker.check({ childTools: [], ...run })).map(({ problem }) => problem)

describe('the checker of the caps of trees', () => {
  it('allows as many children at once, in all and in depth as the caps allow', async () => {
    const deep = callOf(childOf('c', 0), 0)
    const starts: [string, number][] = [
      [callOf('c', 0), 2_000],
      [deep, 2_500],
      [callOf('c', 1), 3_600],
    ]
    expect(await problemsOf(treeCaps, storm({ starts }))).toEqual([])
  })

  it.each<[string, [string, number][], string]>([
    [
      'more children at once',
      [0, 1, 2].map((n) => [callOf('c', n), 2_000]),
      '3 children run at once in ["c",0], at most 2 are allowed',
    ],
    [
      'more children in all',
      [0, 1, 2, 3].map((n) => [callOf('c', n), 2_000 * (n + 1)]),
      '4 children started in ["c",0], at most 3 are allowed',
    ],
    [
      'a child that stands too deep',
      [[callOf(childOf(childOf('c', 0), 0), 0), 2_000]],
      `${callOf(childOf(childOf('c', 0), 0), 0)} started 3 deep, at most 2 are allowed`,
    ],
    ['a child without a place', [[callOf('c', 0), 500]], '["c",0,1,0] started without a place'],
  ])('reports %s', async (_, starts, problem) => {
    expect(await problemsOf(treeCaps, storm({ starts }))).toEqual([problem])
  })

  it('counts a child until its place lapses, if nobody reports its end', async () => {
    const starts: [string, number][] = [0, 1, 2].map((n) => [callOf('c', n), 2_000 + n])
    const run = storm({ starts, caps: { children: 9 } })
    run.records = run.records.filter(({ message }) => message?.type !== 'outcome')
    expect(await problemsOf(treeCaps, run)).toHaveLength(1)
    for (const start of run.starts.slice(2)) start.at = 60_001
    expect(await problemsOf(treeCaps, run)).toEqual([])
  })
})

const usage = (inputTokens: number) => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
})

/** A root that used 10 tokens itself and called an agent that used 5. */
function spent({ reported = 5, ended = 15, answeredTwice = false } = {}): ChaosEvidence {
  const run: ChaosEvidence = { ...soundRun(), records: [], childTools: ['delegate'] }
  const add = (topic: string, message: Sketch, id?: string) =>
    run.records.push(logged({ topic, offset: run.records.length, time: 1_000, id, message }))
  const turn = (conversation: string, own: number, total: number, results: object[]) => {
    const of = { conversation, turn: 0, round: 1 }
    const place = { conversation, turn: 0 }
    add('activity', { type: 'turn-started', ...place, messageId: 'm', agent: 'a', parent: null })
    const answered = { type: 'model-answered' as const, ...of, usage: usage(own), calls: [] }
    add('activity', answered, `loop-detector/${conversation}`)
    if (answeredTwice) add('activity', answered, `loop-detector/${conversation}`)
    const response = { usage: usage(own), calls: [] }
    add('conversation-events', { type: 'round-outcome', ...of, response, results })
    const totals = { rounds: 1, calls: 0, inputTokens: total, outputTokens: 0, wallMs: 0 }
    add('activity', { type: 'turn-finished', ...place, messageId: 'm', totals })
  }
  turn('c', 10, ended, [{ ordinal: 0, tokens: { inputTokens: reported, outputTokens: 0 } }])
  turn(childOf('c', 0), 5, 5, [])
  return run
}

describe('the checker of the sums of trees', () => {
  it('counts each response once, also one that a second owner writes again', async () => {
    expect(await problemsOf(treeSums, spent())).toEqual([])
    expect(await problemsOf(treeSums, spent({ answeredTwice: true }))).toEqual([])
  })

  it('reports a call whose tokens are not those of its agent', async () => {
    const [problem, ...more] = await problemsOf(treeSums, spent({ reported: 6, ended: 16 }))
    expect(problem).toContain('and its agent used 5 + 0')
    expect(more).toEqual([])
  })

  it('reports a turn that ends with more tokens than its rounds and its agents used', async () => {
    expect(await problemsOf(treeSums, spent({ ended: 20 }))).toEqual([
      'the turn ends with 20 + 0 tokens, and its rounds used 15',
    ])
  })
})

describe('the checker of starts, for the calls of agents', () => {
  /** A call that its owner gave back after its agent began, and that a cancel then ended. */
  async function givenBack(goesOn: boolean, ending: 'skipped' | 'unknown'): Promise<string[]> {
    const run = soundRun()
    for (const { message } of run.records) {
      if (message?.type === 'outcome' && message.ordinal === 0)
        Object.assign(message, { result: null, goesOn })
      if (message?.type !== 'round-outcome') continue
      for (const result of message.results) if (result.ordinal === 0) result.status = ending
    }
    const all = (await starts.check(run)).map(({ problem }) => problem)
    return all.map((problem) => problem.replace(/^\S+ (?:\(\S+\) )?/, ''))
  }

  it('allows a start under a claim whose agent goes on, and the call may have run', async () => {
    expect(await givenBack(true, 'unknown')).toEqual([])
  })

  it('reports a child that began and is skipped for its parent', async () => {
    expect(await givenBack(true, 'skipped')).toEqual(['is skipped, and was started 1 times'])
  })

  it('reports a start under a claim that was given back without one', async () => {
    const [problem, ...more] = await givenBack(false, 'unknown')
    expect(problem).toContain('without a claim of its own')
    expect(more).toEqual([])
  })
})

describe('the checker of the trees of guests', () => {
  const child = (from: number, until: number, root = 'g'): GuestChild => ({ root, from, until })
  const problems = async (...children: GuestChild[]) => {
    const run = { ...soundRun(), guestTrees: { children, caps: { atOnce: 2, children: 3 } } }
    return (await guestTrees.check(run)).map(({ problem }) => problem)
  }

  it('allows as many sub-agents at once and in all as the caps allow, in each tree', async () => {
    expect(await problems(child(0, 10), child(1, 9), child(9, 20))).toEqual([])
    expect(await problems(child(0, 10), child(1, 9), child(2, 9, 'h'))).toEqual([])
  })

  it('reports more sub-agents at once, and more in all', async () => {
    expect(await problems(child(0, 10), child(1, 9), child(8, 20))).toEqual([
      '3 sub-agents run at once in g, at most 2 may',
    ])
    expect(await problems(...[0, 10, 20, 30].map((from) => child(from, from + 5)))).toEqual([
      '4 sub-agents began in g, at most 3 may',
    ])
  })
})
