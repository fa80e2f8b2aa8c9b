// The checker of budgets with violations planted in a sound run. A checker that never reports anything
// proves nothing.

import { describe, expect, it } from '@jest/globals'
import { budgetKept, reservationsIn } from '../checkers/turns/budget-kept.ts'
import { type ChaosEvidence, logged, type Sketch, soundRun } from './sound-run.ts'

const expiresAt = 100_000
const day = {
  id: 'default/tenant/day/tokens',
  subject: '',
  window: 'day',
  unit: 'tokens',
  hard: 100,
}
const reserved = (attempt: string, tokens = 60, budgets: object[] = [day]): Sketch => ({
  type: 'budget-reserved',
  tenant: 'default',
  attempt,
  tokens,
  expiresAt,
  budgets,
  tree: '["c",0]',
  children: 0,
  once: null,
})
const settled = (attempt: string, tokens: number): Sketch => ({
  type: 'budget-settled',
  tenant: 'default',
  attempt,
  tokens,
})
const released = (attempt: string): Sketch => ({
  type: 'budget-released',
  tenant: 'default',
  attempt,
})

/** The sound run with these records of budgets, and with attempts that answered. */
function runWith(messages: Sketch[], answered: string[] = [], outputTokens = 0): ChaosEvidence {
  const run = soundRun()
  run.records.push(
    ...messages.map((message, offset) =>
      logged({ topic: 'budgets', offset, time: 200 + offset, message, id: undefined }),
    ),
    ...answered.flatMap((attempt, at) =>
      (['attempt-started', 'attempt-finished'] as const).map((type, step) =>
        logged({
          topic: 'model-requests',
          offset: 10 + 2 * at + step,
          id: undefined,
          time: 5_000 + step,
          message: { type, conversation: 'c', turn: 0, round: 1, attempt, usage: { outputTokens } },
        }),
      ),
    ),
  )
  return run
}

function withBudget(run: ChaosEvidence, from: number, until?: number): ChaosEvidence {
  const message: Sketch = { type: 'operator-budget' }
  const record = logged({ topic: 'policies', offset: 0, time: from, message, id: undefined })
  const key = 'budget:default/tenant/day/tokens'
  run.records.push({ ...record, key })
  if (until !== undefined)
    run.records.push({ ...record, key, offset: 1, time: until, message: undefined })
  return run
}

const problems = async (run: ChaosEvidence) =>
  (await budgetKept.check(run)).map(({ problem }) => problem)

describe('the checker of budgets', () => {
  it('reports a refused reservation whose attempt answered', async () => {
    const run = runWith([reserved('a'), reserved('b'), reserved('c')], ['a', 'b', 'c'])
    expect(await problems(run)).toEqual(['c answered, and its reservation was refused'])
    expect(reservationsIn(run)).toEqual({ granted: 2, refused: 1 })
  })

  it('reports a settle of a refused reservation, and a release without any', async () => {
    const all = [reserved('a', 200), reserved('b'), settled('b', 1), released('b'), released('c')]
    expect(await problems(runWith(all))).toEqual([
      'b settled a reservation without a grant',
      'c released no reservation',
    ])
  })

  it('reports a use above its reservation', async () => {
    expect(await problems(runWith([reserved('a'), settled('a', 61)]))).toEqual([
      'a used 61 tokens of 60',
    ])
  })

  it('reports answers that use the amount and one reservation more', async () => {
    const run = runWith([reserved('a', 200)], ['a'], 300)
    expect(await problems(run)).toEqual([
      'default in default/tenant/day/tokens 1970-01-01 used 300 tokens of 100, at most 200 in one',
    ])
  })

  it('reports an attempt without a reservation while a budget is in force', async () => {
    const run = withBudget(runWith([], ['a']), 1_000, 6_000)
    expect(await problems(run)).toEqual(['a answered without a reservation'])
  })

  it.each<[string, ChaosEvidence]>([
    ['within the bound behind the budget', withBudget(runWith([], ['a']), 4_000)],
    ['after the removal of the budget', withBudget(runWith([], ['a']), 1_000, 4_000)],
    [
      'with grants that a settle, a release and an expiry make room for',
      runWith(
        [
          ...[reserved('a', 100), settled('a', 10), reserved('b', 90), released('b')],
          ...[reserved('c', 500), reserved('d')],
        ],
        ['a', 'c'],
      ),
    ],
  ])('reports nothing for an attempt %s', async (_, run) => {
    expect(await problems(run)).toEqual([])
  })

  it('counts the caps of each tree apart, with its children and those that run', () => {
    const cap = (id: string, unit: string, hard: number) =>
      ({ id, subject: '', window: 'tree', unit, hard }) as const
    const child = (attempt: string, tree = '["c",0]'): Sketch => {
      const caps = [cap('tree.children', 'children', 3), cap('tree.atOnce', 'running', 2)]
      return { ...reserved(attempt, 0, caps), tree, children: 1 }
    }
    const run = runWith([
      ...[child('a'), child('b'), child('over at once'), settled('a', 0), child('c')],
      ...[settled('b', 0), child('over in all'), child('d', '["e",0]')],
    ])
    expect(reservationsIn(run)).toEqual({ granted: 4, refused: 2 })
  })

  it('counts a reservation without a settle as used from its expiry on', async () => {
    const early = { ...reserved('a', 100), expiresAt: 201 }
    expect(reservationsIn(runWith([early, reserved('b')]))).toEqual({ granted: 1, refused: 1 })
  })
})
