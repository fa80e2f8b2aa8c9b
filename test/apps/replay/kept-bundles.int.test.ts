// The kept bundles (test/bundles): each is judged again as it was, and asked what other thresholds
// would have changed.

import { describe, expect, it } from '@jest/globals'
import { replayLog } from '../../../apps/replay/replay-log.ts'
import { type Change, totalsOf } from '../../../apps/replay/what-if/change.ts'
import { contentOf } from '../../../apps/replay/what-if/policy-flags.ts'
import { whatIf } from '../../../apps/replay/what-if/what-if.ts'
import { always, type BundleName, changedLog, rewritten } from './bundled-log.ts'

async function changesIn(name: BundleName, ...set: string[]): Promise<Change[]> {
  const log = await changedLog(name, (record) => record)
  const { changes } = await whatIf({
    log,
    contents: [contentOf({ set })],
    conversation: undefined,
    ...always,
  })
  return changes[0] ?? []
}

describe('the kept bundles', () => {
  it.each<BundleName>(['i1-reflex-loop', 'i3-no-termination', 'i5-broken-schema'])(
    '%s is decided as it was',
    async (name) => {
      const log = await changedLog(name, (record) => record)
      const { tally, differences, first } = await replayLog({
        log,
        ...always,
        grows: false,
        now: 0,
      })
      expect(first).toBeUndefined()
      expect({ differences, turns: tally.turns, awaited: tally.awaited }).toEqual({
        differences: 0,
        turns: 1,
        awaited: 0,
      })
    },
  )
})

describe('what would have been decided otherwise', () => {
  it('is told from the first round on that goes another way, with its rule and the record that led to it', async () => {
    const [change] = await changesIn('i1-reflex-loop', 'loop.identicalFailures=2')
    expect(change).toMatchObject({
      ...{
        conversation: 'i1-reflex-loop',
        turn: 0,
        round: 2,
        at: { topic: 'weir.rounds-checked' },
      },
      ...{
        was: null,
        is: { rung: 'nudge', rule: 'identical-failure@2' },
        roundsSaved: 3,
        refused: [],
      },
    })
  })

  it('saves nothing where it would have been milder', async () => {
    const changes = await changesIn(
      'i1-reflex-loop',
      'loop.identicalFailures=20',
      'loop.schemaFailures=20',
    )
    expect(changes).toMatchObject([
      { round: 3, was: { rung: 'nudge' }, is: null, roundsSaved: 0, tokensSaved: 0 },
    ])
  })

  it('counts the calls that had succeeded and would not have run, each with the record that says so', async () => {
    const changes = await changesIn('i3-no-termination', 'loop.identicalSuccesses=2')
    const { refused } = totalsOf(changes)
    expect(refused.map(({ round, tool }) => [round, tool])).toEqual([
      [4, 'lookup'],
      [5, 'lookup'],
      [6, 'lookup'],
    ])
    expect(new Set(refused.map(({ at }) => at.offset)).size).toBe(3)
  })

  it('says which of them only repeated a call of the same turn with the same result', async () => {
    const log = await changedLog('i3-no-termination', (record, message) => {
      if (message.type !== 'round-outcome' || message.round !== 5) return record
      return rewritten(record, {
        ...message,
        results: message.results.map((result) => ({ ...result, text: 'another result' })),
      })
    })
    const { changes } = await whatIf({
      log,
      contents: [contentOf({ set: ['caps.rounds=2'] })],
      conversation: undefined,
      ...always,
    })
    const { refused } = totalsOf(changes[0] ?? [])
    expect(refused.map(({ round, repeats }) => [round, repeats])).toEqual([
      [3, true],
      [4, true],
      [5, false],
      [6, true],
    ])
  })

  it('is nothing where no threshold is reached that was not reached before', async () => {
    expect(await changesIn('i3-no-termination', 'loop.identicalFailures=2')).toEqual([])
  })

  it('tells what a lower cap on rounds would have ended', async () => {
    const [change] = await changesIn('i3-no-termination', 'caps.rounds=3')
    expect(change).toMatchObject({
      round: 3,
      was: null,
      is: { rung: 'text_only', rule: 'caps' },
      roundsSaved: 4,
    })
    expect(change?.refused).toHaveLength(3)
  })

  it('tells the reason of a cap as the cap’s, also where a rule has something to say in the same round', async () => {
    const [change] = await changesIn('i1-reflex-loop', 'caps.rounds=3')
    expect(change).toMatchObject({
      round: 3,
      is: { rung: 'text_only', rule: 'caps', reason: 'the limit of 3 model rounds is reached' },
    })
  })

  it('takes the earlier one of what a cap and a rule would have changed', async () => {
    const [change] = await changesIn(
      'i3-no-termination',
      'caps.rounds=4',
      'loop.identicalSuccesses=2',
    )
    expect(change).toMatchObject({ round: 2, is: { rule: 'identical-success@2' } })
  })

  it('knows a rule that is only a shadow', async () => {
    const changes = await changesIn(
      'i1-reflex-loop',
      'rule.identical-failure=shadow',
      'rule.schema-failure=shadow',
    )
    expect(changes[0]).toMatchObject({ was: { rule: 'identical-failure@2' } })
    expect(changes[0]?.is?.rule).not.toBe('identical-failure@2')
  })
})
