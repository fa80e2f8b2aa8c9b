import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type Approval,
  alreadyText,
  answered,
  countedText,
  type Decided,
  expired,
  hashOf,
  idFrom,
  idOf,
  verdictOf,
  withdrawn,
} from '../../../services/approval/approval.ts'
import { askedRound } from '../../../services/approval/asked-round.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { answer, approvalOf, asked, expiresAt, place, prod } from './samples.ts'

const pending = approvalOf(askedRound(asked()), 0)
const { id } = pending.request

describe('an id', () => {
  it('is short, and the same for the same call', () => {
    expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/)
    expect(approvalOf(askedRound(asked()), 0).request).toEqual(pending.request)
  })

  test.each([
    ['a blank', '{"env":"prod","count":3}'],
    ['the order', '{"count":3, "env":"prod"}'],
    ['an escape', '{"env":"\\u0070rod", "count":3}'],
  ])('is another where the arguments differ by %s: bytes are bound, not meanings', (_, text) => {
    const other = approvalOf(
      askedRound(asked({ calls: [{ ...prod, arguments: text }] })),
      0,
    ).request
    expect(other.hash).not.toBe(pending.request.hash)
    expect(other.id).not.toBe(id)
  })

  it('is another for the same call elsewhere', () => {
    const { hash } = pending.request
    const places = [
      place,
      { ...place, conversation: 'd' },
      { ...place, turn: 8 },
      { ...place, round: 3 },
    ]
    const ids = [...places.map((other) => idOf(other, 0, hash)), idOf(place, 1, hash)]
    expect(new Set(ids).size).toBe(ids.length)
    expect(hashOf('a', 'b"')).not.toBe(hashOf('ab', '"'))
  })

  it('is read as people type it', () => {
    expect(idFrom(` ${id.replaceAll('-', '').toUpperCase()} `)).toBe(id)
    expect(idFrom('OIL0-1111-abcd')).toBe('0110-1111-abcd')
  })
})

describe('what is decided', () => {
  const decisions: [string, Approval, string][] = [
    [
      'approved',
      answered(pending, answer(), 1_200),
      'was approved by ann at 1970-01-01T00:00:01.200Z. The call may have run already',
    ],
    [
      'rejected',
      answered(pending, answer({ answer: 'reject', by: 'bob' }), 1_300),
      'was rejected by bob at 1970-01-01T00:00:01.300Z',
    ],
    [
      'expired',
      expired(pending, expiresAt),
      'was rejected because nobody decided before 1970-01-01T00:00:51.000Z',
    ],
    [
      'withdrawn',
      withdrawn(pending, 'cancelled', 1_400),
      'was decided otherwise at 1970-01-01T00:00:01.400Z (cancelled)',
    ],
  ]

  test.each(decisions)(
    'stays so once it is %s, and who comes later is told',
    (_, approval, said) => {
      for (const later of [answer(), answer({ answer: 'reject' })])
        expect(answered(approval, later, 9_000_000)).toBe(approval)
      expect(withdrawn(approval, 'vetoed', 2_000)).toBe(approval)
      expect(expired(approval, 1e15)).toBe(approval)
      expect(alreadyText(approval)).toContain(`Nothing was changed: ${id} ${said}`)
    },
  )

  it('is told to who decided it', () => {
    expect(countedText(answered(pending, answer(), 1_200))).toBe(
      `Approved: ${id}. deploy may run with exactly these arguments.`,
    )
    expect(countedText(answered(pending, answer({ answer: 'reject' }), 1_200))).toContain(
      `Rejected: ${id}.`,
    )
    expect(alreadyText(pending)).toContain('other arguments')
  })
})

describe('any order of decisions', () => {
  it('decides once, by the first that fits', () => {
    const at = fc.integer({ min: 1_000, max: expiresAt + 10_000 })
    const made = fc.record({ approves: fc.boolean(), right: fc.boolean(), at })
    fc.assert(
      fc.property(fc.array(made, { maxLength: 8 }), (unordered) => {
        const decisions = [...unordered].sort((one, other) => one.at - other.at)
        const first = decisions.find(({ right, at }) => right || at >= expiresAt)
        let approval: Approval = pending
        for (const { approves, right, at } of decisions)
          approval = answered(
            approval,
            answer({ answer: approves ? 'approve' : 'reject', ...(!right && { hash: 'x' }) }),
            at,
          )
        const expected =
          first === undefined
            ? 'pending'
            : first.at >= expiresAt
              ? 'expired'
              : first.approves
                ? 'approved'
                : 'rejected'
        expect(approval.kind).toBe(expected)
      }),
    )
  })

  it('gives a text of a size that a guard may send, whatever the reason is', () => {
    const long = answer({ answer: 'reject', reason: '𝔵'.repeat(100_000), by: 'b'.repeat(100_000) })
    const verdict = verdictOf(answered(pending, long, 2_000) as Decided)
    expect(Buffer.byteLength(verdict.text)).toBeLessThanOrEqual(limits.guardTextBytesMax)
    expect(Buffer.byteLength(verdict.evidence ?? '')).toBeLessThanOrEqual(
      limits.guardEvidenceBytesMax,
    )
  })
})
