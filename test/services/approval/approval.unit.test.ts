import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type Approval,
  applyDecision,
  applyTime,
  applyWithdrawal,
  type Decided,
  hashOf,
  idFrom,
  idOf,
  verdictOf,
} from '../../../services/approval/approval.ts'
import { approvalRound } from '../../../services/approval/approval-round.ts'
import { alreadyText, countedText } from '../../../services/approval/decision-texts.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { answer, approvalAsked, approvalOf, expiresAt, place, prod } from './samples.ts'

const pending = approvalOf(approvalRound(approvalAsked()), 0)
const { id } = pending.request

describe('an id', () => {
  it('is short, and equal for the same call', () => {
    expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/)
    expect(approvalOf(approvalRound(approvalAsked()), 0).request).toEqual(pending.request)
  })

  test.each([
    ['a blank', '{"env":"prod","count":3}'],
    ['the order', '{"count":3, "env":"prod"}'],
    ['an escape', '{"env":"\\u0070rod", "count":3}'],
  ])('differs if the arguments differ by %s, because it covers the bytes', (_, text) => {
    const other = approvalOf(
      approvalRound(approvalAsked({ calls: [{ ...prod, arguments: text }] })),
      0,
    ).request
    expect(other.hash).not.toBe(pending.request.hash)
    expect(other.id).not.toBe(id)
  })

  it('differs for the same call in another place', () => {
    const { hash } = pending.request
    const places = [
      place,
      { ...place, conversation: 'd' },
      { ...place, turn: 8 },
      { ...place, round: 3 },
    ]
    const ids = [...places.map((other) => idOf(other, 0, hash)), idOf(place, 1, hash)]
    expect(new Set(ids).size).toBe(ids.length)
    expect(hashOf('a', 'b"', null)).not.toBe(hashOf('ab', '"', null))
    expect(new Set([null, '', 'p', 'q'].map((program) => hashOf('a', '{}', program))).size).toBe(4)
  })

  it('can be typed without dashes, in capitals, with letters for similar digits', () => {
    expect(idFrom(` ${id.replaceAll('-', '').toUpperCase()} `)).toBe(id)
    expect(idFrom('OIL0-1111-abcd')).toBe('0110-1111-abcd')
  })
})

describe('a decided call', () => {
  const decisions: [string, Approval, string][] = [
    [
      'allowed',
      applyDecision(pending, answer(), 1_200),
      'was allowed by ann (claimed) at 1970-01-01T00:00:01.200Z. The call may have run already',
    ],
    [
      'denied',
      applyDecision(pending, answer({ answer: 'deny', by: 'bob' }), 1_300),
      'was denied by bob (claimed) at 1970-01-01T00:00:01.300Z',
    ],
    [
      'allowed',
      applyDecision(pending, answer({ by: 'key:ann', identity: 'authenticated' }), 1_200),
      'was allowed by key:ann at 1970-01-01T00:00:01.200Z',
    ],
    [
      'expired',
      applyTime(pending, expiresAt),
      'was denied because nobody decided before 1970-01-01T00:00:51.000Z',
    ],
    [
      'withdrawn',
      applyWithdrawal(pending, 'cancelled', 1_400),
      'was decided otherwise at 1970-01-01T00:00:01.400Z (cancelled)',
    ],
  ]

  test.each(decisions)(
    'stays %s, and a later decision gets the reason in its answer',
    (_, approval, reason) => {
      for (const later of [answer(), answer({ answer: 'deny' })])
        expect(applyDecision(approval, later, 9_000_000)).toBe(approval)
      expect(applyWithdrawal(approval, 'vetoed', 2_000)).toBe(approval)
      expect(applyTime(approval, 1e15)).toBe(approval)
      expect(alreadyText(approval)).toContain(`Nothing was changed: ${id} ${reason}`)
    },
  )

  it('is reported to the author of the decision', () => {
    expect(countedText(applyDecision(pending, answer(), 1_200))).toBe(
      `Allowed: ${id}. deploy may run with exactly these arguments.`,
    )
    expect(countedText(applyDecision(pending, answer({ answer: 'deny' }), 1_200))).toContain(
      `Denied: ${id}.`,
    )
    expect(alreadyText(pending)).toContain('other arguments')
  })
})

describe('any order of decisions', () => {
  it('has one outcome, that of the first fitting decision', () => {
    const at = fc.integer({ min: 1_000, max: expiresAt + 10_000 })
    const made = fc.record({ approves: fc.boolean(), right: fc.boolean(), at })
    fc.assert(
      fc.property(fc.array(made, { maxLength: 8 }), (unordered) => {
        const decisions = [...unordered].sort((one, other) => one.at - other.at)
        const first = decisions.find(({ right, at }) => right || at >= expiresAt)
        let approval: Approval = pending
        for (const { approves, right, at } of decisions)
          approval = applyDecision(
            approval,
            answer({ answer: approves ? 'allow' : 'deny', ...(!right && { hash: 'x' }) }),
            at,
          )
        const expected =
          first === undefined
            ? 'pending'
            : first.at >= expiresAt
              ? 'expired'
              : first.approves
                ? 'allow'
                : 'deny'
        expect(approval.kind).toBe(expected)
      }),
    )
  })

  it('gives a text within the bounds of a guard, however long the reason is', () => {
    const long = answer({ answer: 'deny', reason: '𝔵'.repeat(100_000), by: 'b'.repeat(100_000) })
    const verdict = verdictOf(applyDecision(pending, long, 2_000) as Decided)
    expect(Buffer.byteLength(verdict.text)).toBeLessThanOrEqual(limits.guardTextBytesMax)
    expect(Buffer.byteLength(verdict.evidence ?? '')).toBeLessThanOrEqual(
      limits.guardEvidenceBytesMax,
    )
  })
})
