// The repair of a commit outside its log: the position after it, and the marks there.

import { describe, expect, it } from '@jest/globals'
import { encode } from '../../../../shared/codec/codec.ts'
import type { Commit, StoredRecord } from '../../../../shared/contract/bus.ts'
import { faultOf, repairedCommit } from '../../../../shared/runtime/log/repair.ts'
import { cancel } from '../../../support/messages.ts'

const topic = 'weir.rounds-checked'
const commitOf = (offset: number, from: number, marks = {}): Commit => ({
  offset,
  metadata: JSON.stringify({ from, marks }),
})
const assignment = (committed: Commit | undefined, begin = 10, end = 20) => ({
  topic,
  ends: { partition: 0, begin, end },
  committed,
})

const stored = (id: string | undefined, offset = 10): StoredRecord => ({
  topic,
  partition: 0,
  key: 'c',
  value: encode(cancel()),
  id,
  offset,
  time: 0,
})

async function marksAfter(records: StoredRecord[], committed = commitOf(5, 5)) {
  async function* batches() {
    yield records
  }
  const endOf = async () => 100
  const commit = await repairedCommit({
    assignment: assignment(committed),
    records: batches(),
    endOf,
  })
  return { offset: commit.offset, ...JSON.parse(commit.metadata) }
}

describe('a commit', () => {
  it.each<[string, Commit | undefined]>([
    ['none', undefined],
    ['one at the begin', commitOf(10, 10)],
    ['one at the end', commitOf(20, 12)],
    ["one without metadata, by an operator's tool", { offset: 15, metadata: '' }],
  ])('is right: %s', (_, committed) => {
    expect(faultOf(assignment(committed))).toBeUndefined()
  })

  it.each<[string, Commit, number]>([
    ['whose first record is gone', commitOf(15, 9), 5],
    ['wholly before the log', commitOf(3, 3), 10],
    ['that folds from behind itself', commitOf(12, 13), 8],
    ['with the metadata of another program', { offset: 12, metadata: 'x' }, 8],
  ])('%s can be repaired, and the unread records are counted', (_, committed, unread) => {
    expect(faultOf(assignment(committed))).toMatchObject({ kind: 'repairable', unread })
  })

  it('after the end is not repaired, because marks downstream are ahead of new records', () => {
    expect(faultOf(assignment(commitOf(21, 20)))).toMatchObject({ kind: 'ahead' })
  })
})

describe('the repaired commit', () => {
  it('goes on at the end, with nothing to fold', async () => {
    expect(await marksAfter([])).toEqual({ offset: 20, from: 20, marks: {} })
  })

  it('keeps the old marks, and moves them by the records of the log only forward', async () => {
    const old = { 'conversation/0': [50, 1], 'validator/0': [7, 0] }
    const records = [stored('conversation/0/40/0'), stored('conversation/0/50/2')]
    expect((await marksAfter(records, commitOf(5, 5, old))).marks).toEqual({
      'conversation/0': [50, 2],
      'validator/0': [7, 0],
    })
  })

  it.each<[string, string | undefined]>([
    ['has no id', undefined],
    ['has an id that is none', 'conversation/0/x/0'],
    ['has an id of no stage', 'client/0/60/0'],
    ['has an id of a stage that does not write such records', 'validator/0/60/0'],
    ['has an id of an input that its writer never had', 'conversation/0/100/0'],
  ])('moves no mark by a record that %s', async (_, id) => {
    expect((await marksAfter([stored(id)])).marks).toEqual({})
  })

  it('moves no mark by a record that cannot be decoded', async () => {
    const broken = { ...stored('conversation/0/60/0'), value: new Uint8Array([1, 2]) }
    expect((await marksAfter([broken])).marks).toEqual({})
  })
})
