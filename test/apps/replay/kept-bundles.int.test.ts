// The kept bundles (test/bundles): each one is replayed, also with other thresholds.

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
    only: undefined,
    ...always,
  })
  return changes[0] ?? []
}

describe('the kept bundles', () => {
  it.each<BundleName>(['i1-reflex-loop', 'i3-no-termination', 'i5-broken-schema'])(
    '%s is decided as before',
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

describe('a changed decision', () => {
  it('is reported at its first round, with its rule and the input record', async () => {
    const [change] = await changesIn('i1-reflex-loop', 'loop.identicalFailures=2')
    expect(change).toMatchObject({
      conversation: 'i1-reflex-loop',
      turn: 0,
      round: 2,
      at: { topic: 'weir.rounds-checked' },
      was: null,
      is: { action: 'nudge', rule: 'identical-failure@5' },
      roundsSaved: 3,
      denied: [],
    })
  })

  it('saves nothing if it is milder', async () => {
    const changes = await changesIn(
      'i1-reflex-loop',
      'loop.identicalFailures=20',
      'loop.schemaFailures=20',
    )
    expect(changes).toMatchObject([
      { round: 3, was: { action: 'nudge' }, is: null, roundsSaved: 0, tokensSaved: 0 },
    ])
  })

  it('counts successful calls that would not have run, each with its result record', async () => {
    const changes = await changesIn('i3-no-termination', 'loop.identicalSuccesses=2')
    const { denied } = totalsOf(changes)
    expect(denied.map(({ round, tool }) => [round, tool])).toEqual([
      [4, 'lookup'],
      [5, 'lookup'],
      [6, 'lookup'],
    ])
    expect(new Set(denied.map(({ at }) => at.offset)).size).toBe(3)
  })

  it('marks calls that only repeated one of the same turn with the same result', async () => {
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
      only: undefined,
      ...always,
    })
    const { denied } = totalsOf(changes[0] ?? [])
    expect(denied.map(({ round, repeats }) => [round, repeats])).toEqual([
      [3, true],
      [4, true],
      [5, false],
      [6, true],
    ])
  })

  it('is absent if no further threshold is reached', async () => {
    expect(await changesIn('i3-no-termination', 'loop.identicalFailures=2')).toEqual([])
  })

  it('can come from a lower cap on rounds', async () => {
    const [change] = await changesIn('i3-no-termination', 'caps.rounds=3')
    expect(change).toMatchObject({
      round: 3,
      was: null,
      is: { action: 'text_only', rule: 'caps' },
      roundsSaved: 4,
    })
    expect(change?.denied).toHaveLength(3)
  })

  it('names the cap as the reason even if a rule intervenes in the same round', async () => {
    const [change] = await changesIn('i1-reflex-loop', 'caps.rounds=3')
    expect(change).toMatchObject({
      round: 3,
      is: { action: 'text_only', rule: 'caps', reason: 'the limit of 3 model rounds is reached' },
    })
  })

  it('is the earlier one if both a cap and a rule change the turn', async () => {
    const [change] = await changesIn(
      'i3-no-termination',
      'caps.rounds=4',
      'loop.identicalSuccesses=2',
    )
    expect(change).toMatchObject({ round: 2, is: { rule: 'identical-success@7' } })
  })

  it('can come from a rule in shadow', async () => {
    const changes = await changesIn(
      'i1-reflex-loop',
      'rule.identical-failure=shadow',
      'rule.schema-failure=shadow',
    )
    expect(changes[0]).toMatchObject({ was: { rule: 'identical-failure@5' } })
    expect(changes[0]?.is?.rule).not.toBe('identical-failure@5')
  })
})
