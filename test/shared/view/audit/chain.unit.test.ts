// The chains of evidence: given these records of a partition, then these faults.

import { describe, expect, it } from '@jest/globals'
import { type Evidence, recordHash, withLink } from '../../../../shared/contract/audit/link.ts'
import type { AuditChanged } from '../../../../shared/contract/messages.ts'
import { checkPartition, headsIn, headText } from '../../../../shared/view/audit/chain.ts'

const changed = (at: number, by = 'ann'): AuditChanged => ({
  type: 'audit-changed',
  setting: 'stop:all',
  isRemoved: false,
  at,
  by,
  identity: 'claimed',
  before: '',
  after: '{}',
  link: null,
})

/** The records of writers in this order, each of which sees all earlier ones. */
function written(...writers: string[]): AuditChanged[] {
  const last = new Map<string, { sequence: number; previous: string }>()
  let seen = ''
  return writers.map((writer, at) => {
    const { sequence, previous } = last.get(writer) ?? { sequence: 0, previous: '' }
    const record = withLink(changed(at), { writer, sequence: sequence + 1, previous, seen })
    seen = recordHash(record) ?? ''
    last.set(writer, { sequence: sequence + 1, previous: seen })
    return record
  })
}

type Given = Evidence | 'deleted' | 'hidden' | 'none'

function given(records: Given[], begin = 0) {
  const check = checkPartition(0, begin)
  for (const [offset, one] of records.entries()) if (one !== 'deleted') check.apply(offset, one)
  return check
}

const faultsOf = (records: Given[], begin?: number) =>
  given(records, begin).faults.map(({ fault, offset }) => `${fault} ${offset}`)

const all = written('a', 'a', 'b', 'a', 'c')
const [first, second, third, fourth, fifth] = all as [
  AuditChanged,
  AuditChanged,
  AuditChanged,
  AuditChanged,
  AuditChanged,
]

describe('evidence of several writers', () => {
  it('is whole as it was written, also with a record that was sent twice', () => {
    expect(faultsOf(all)).toEqual([])
    expect(faultsOf([first, second, second, third, fourth, fifth])).toEqual([])
  })

  it.each([0, 1, 2, 3])('names record %i after a change of its author', (place) => {
    const records = all.map((one, n) => (n === place ? { ...one, by: 'bob' } : one))
    expect(faultsOf(records)).toEqual([`changed ${place}`])
  })

  it('names a record after a change of its content, also the last one', () => {
    expect(faultsOf([first, second, third, fourth, { ...fifth, after: '{"all":1}' }])).toEqual([
      'changed 4',
    ])
  })

  it('names a record of which only a part of the content is left', () => {
    expect(faultsOf([first, { ...second, before: null }, third])).toEqual(['changed 1'])
  })

  it('names the record that a missing one stood before', () => {
    expect(faultsOf(['deleted', second, third])).toEqual(['missing 1'])
    expect(faultsOf([first, 'deleted', third, fourth])).toContain('missing 3')
    expect(faultsOf([first, second, 'deleted', fourth])).toEqual(['missing 3'])
  })

  it('names records that were moved', () => {
    expect(faultsOf([second, first, third, fourth])).toContain('moved 1')
    expect(faultsOf([first, third, second, fourth])).toContain('moved 1')
  })

  it('names a record without a link', () => {
    expect(faultsOf([first, changed(1), second])).toEqual(['unlinked 1'])
  })

  it('names a record that is no evidence, which explains no missing one', () => {
    expect(faultsOf([first, 'none', third, fourth])).toContain('changed 1')
    expect(faultsOf([first, 'none', 'deleted', fourth])).toContain('missing 3')
  })

  it('is whole when content was erased, and its records are counted', () => {
    const erased = given([first, { ...second, before: null, after: null }, third, fourth])
    expect(erased.faults).toEqual([])
    expect(erased.counts).toEqual({ records: 4, erased: 1, hidden: 0 })
  })

  it('is not judged where the retention deleted records or nobody can read them', () => {
    expect(faultsOf(['deleted', 'deleted', third, fourth, fifth], 2)).toEqual([])
    expect(faultsOf([first, 'hidden', third, fourth])).toEqual([])
  })
})

describe('a missing record', () => {
  const apart = written('a', 'b', 'c', 'd', 'e', 'f')

  it.each([
    ['of writers with several records', written('a', 'b', 'a', 'b', 'a', 'b')],
    ['of writers with one record each', apart],
  ])('%s is found after records that the retention deleted or that nobody can read', (_, log) => {
    const without = (...places: number[]) =>
      log.map((record, n): Given => (places.includes(n) ? 'deleted' : record))
    expect(faultsOf(without(0, 1), 2)).toEqual([])
    expect(faultsOf(without(0, 1, 4), 2)).toEqual(['missing 5'])
    const withHidden = (records: Given[]) => records.with(1, 'hidden')
    expect(faultsOf(withHidden(log))).toEqual([])
    expect(faultsOf(withHidden(without(4)))).toEqual(['missing 5'])
  })
})

describe('a head that was kept elsewhere', () => {
  const { head } = given(all)
  if (head === undefined) throw new Error('the partition has no head')

  it('finds a truncated end, which has no successor', () => {
    expect(faultsOf(all.slice(0, 4))).toEqual([])
    expect(given(all.slice(0, 4)).faultOf(head)).toMatchObject({ fault: 'truncated', offset: 4 })
  })

  it('finds a change of the record, and accepts a log that has grown', () => {
    const records = [first, second, third, fourth, { ...fifth, by: 'bob' }]
    expect(given(records).faultOf(head)).toMatchObject({ fault: 'changed', offset: 4 })
    expect(given(written('a', 'a', 'b', 'a', 'c', 'a')).faultOf(head)).toBeUndefined()
  })

  it('is a fault if its record stood before the oldest one', () => {
    const check = given(['deleted', ...written('a', 'a')], 1)
    expect(check.faultOf({ ...head, offset: 0 })).toMatchObject({ fault: 'deleted', offset: 0 })
    expect(given(all).faultOf({ ...head, begin: 1 })).toMatchObject({ fault: 'moved', offset: 0 })
  })

  it('is read from its text, and another text is none', () => {
    expect(headsIn(headText([head, { ...head, partition: 3 }]))).toEqual([
      head,
      { ...head, partition: 3 },
    ])
    expect(headsIn(`0/4/${head.hash}`)).toEqual([head]) // of an earlier version
    for (const text of ['', '0/4', `0/4/${'g'.repeat(64)}`]) expect(headsIn(text)).toBeUndefined()
  })
})
