// The messages of a guard's process are checked before use.

import { describe, expect, it } from '@jest/globals'
import { type Answer, answerIn, verdictsIn } from '../../../apps/replay/guard/guard-answer.ts'
import { answerLine } from '../../../apps/replay/guard/guard-lines.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { GuardVerdict, RoundCleared } from '../../../shared/contract/messages.ts'
import { guardVerdictWith, verdictWith } from '../../support/messages.ts'
import { changedLog } from './bundled-log.ts'

const guard = {
  name: 'mine',
  version: '1',
  tools: ['*'],
  deadlineMs: 1000,
  onTimeout: 'deny',
  external: false,
}

describe('an answer', () => {
  it.each([
    ['loaded', { kind: 'loaded', guard }],
    ['failed', { kind: 'failed', reason: 'no idea' }],
    ['judged', { kind: 'judged', rounds: [{ offset: 3, verdict: new Uint8Array(4) }] }],
  ])('of kind %s is accepted only under the number of its question', (_, answer) => {
    expect(answerIn(answerLine(2, answer as Answer), 2)).toEqual(answer)
    expect(answerIn(answerLine(1, answer as Answer), 2)).toBeUndefined()
  })

  it('with an overlong reason keeps the beginning of it', () => {
    const answer = answerIn(answerLine(1, { kind: 'failed', reason: 'x'.repeat(10_000_000) }), 1)
    expect(answer).toEqual({ kind: 'failed', reason: expect.stringMatching(/^x{4000,4096}…$/) })
  })

  it.each([
    ['no object', 'loaded'],
    ['nothing', null],
    ['a list', [{ number: 2, kind: 'failed', reason: '' }]],
    ['of no kind that there is', { number: 2, kind: 'done' }],
    ['of a guard without tools', { number: 2, kind: 'loaded', guard: { ...guard, tools: 'all' } }],
    [
      'of a guard with a name that none may have',
      { number: 2, kind: 'loaded', guard: { ...guard, name: 'MINE' } },
    ],
    [
      'of a guard with a deadline that is none',
      { number: 2, kind: 'loaded', guard: { ...guard, deadlineMs: Number.NaN } },
    ],
    [
      'of a guard that does not state whether it is external',
      { number: 2, kind: 'loaded', guard: { ...guard, external: 'no' } },
    ],
    ['a failure without a reason', { number: 2, kind: 'failed', reason: { length: 7 } }],
    ['rounds that are no list', { number: 2, kind: 'judged', rounds: { length: 1 } }],
    [
      'a verdict that is no bytes',
      { number: 2, kind: 'judged', rounds: [{ offset: 3, verdict: 'allow' }] },
    ],
    [
      'a round that stands nowhere',
      { number: 2, kind: 'judged', rounds: [{ offset: 0.5, verdict: '' }] },
    ],
  ])('is refused if it is %s', (_, message) => {
    expect(answerIn(JSON.stringify(message), 2)).toBeUndefined()
  })
})

describe('the verdicts in an answer', () => {
  it('are those on the rounds of the question', async () => {
    const [first, second] = await clearedRounds()
    const rounds = [answered(first), answered(second)]
    expect(verdictsIn(rounds, [first, second])?.map(({ offset }) => offset)).toEqual([
      first.offset,
      second.offset,
    ])
    expect(verdictsIn([], [first, second])).toEqual([]) // it judges none of their tools
  })

  it.each<[string, (cleared: StoredRecord) => { offset: number; verdict: Uint8Array }[]]>([
    [
      'stands on a round that was not asked about',
      (cleared) => [{ ...answered(cleared), offset: cleared.offset + 1000 }],
    ],
    ['is on another round than it says', (cleared) => [answered(cleared, { round: 99 })]],
    [
      'is on another conversation than it says',
      (cleared) => [answered(cleared, { conversation: 'other' })],
    ],
    [
      'is on a call that the round does not have',
      (cleared) => [answered(cleared, { verdicts: [passed(99)] })],
    ],
    ['comes twice', (cleared) => [answered(cleared), answered(cleared)]],
    ['is no record', ({ offset }) => [{ offset, verdict: new Uint8Array(10_000_000) }]],
    [
      'is a record of another kind',
      ({ offset, value }) => [{ offset, verdict: value as Uint8Array }],
    ],
  ])('are refused if one %s', async (_, roundsFor) => {
    const [cleared] = await clearedRounds()
    expect(verdictsIn(roundsFor(cleared), [cleared])).toBeUndefined()
  })
})

function passed(ordinal: number): GuardVerdict['verdicts'][number] {
  return verdictWith({ ordinal })
}

function answered(
  record: StoredRecord,
  other: Partial<GuardVerdict> = {},
): { offset: number; verdict: Uint8Array } {
  const { conversation, turn, round, calls } = decode(record.value as Uint8Array) as RoundCleared
  const verdict: GuardVerdict = guardVerdictWith({
    conversation,
    turn,
    round,
    guard: 'mine',
    verdicts: calls.map(({ ordinal }) => passed(ordinal)),
    clearedAt: record.time,
    judgedMs: 0,
    deadlineMs: 1000,
  })
  return { offset: record.offset, verdict: encode({ ...verdict, ...other }) }
}

async function clearedRounds(): Promise<[StoredRecord, StoredRecord]> {
  const { bus, topicPrefix, partitions } = await changedLog('i3-no-termination', (record) => record)
  const found: StoredRecord[] = []
  for (let partition = 0; partition < partitions; partition += 1)
    found.push(
      ...(await bus.read({
        topic: `${topicPrefix}rounds-cleared`,
        partition,
        from: 0,
        limit: 100,
      })),
    )
  const rounds = found.filter(({ value }) => decode(value as Uint8Array).type === 'round-cleared')
  return rounds.slice(0, 2) as [StoredRecord, StoredRecord]
}
