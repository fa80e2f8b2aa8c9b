import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import type { Approval, Decision } from '../../../../services/guards/approval/approval.ts'
import { decided, expired, requestFor, unknownAnswer, verdictOf } from '../../../../services/guards/approval/approval.ts'
import type { GuardedRound, JsonObject } from '../../../../shared/guard.ts'
import { limits } from '../../../../shared/limits.ts'

const declaration = { name: 'deploy', description: '', schema: '{}', idempotent: false, timeoutMs: 1, poll: false }

function requested(args: JsonObject, change: Partial<GuardedRound> = {}, ordinal = 0) {
  const call = { ordinal, tool: 'deploy', arguments: args, declaration }
  return requestFor({ conversation: 'c', turn: 1, round: 2, agent: 'a', time: 1_000, calls: [call], ...change }, call, 'production', 500)
}

const request = requested({ env: 'prod', count: 3 })
const pending: Approval = { kind: 'pending', request }
const approve: Decision = { kind: 'approve', id: request.id, hash: request.hash, by: 'ann', at: 1_200 }
const reject: Decision = { kind: 'reject', id: request.id, hash: request.hash, by: 'bob', reason: 'not on a Friday', at: 1_300 }

describe('a request', () => {
  it('has the same id for the same call, in whatever order its arguments came', () => {
    expect(requested({ count: 3, env: 'prod' })).toEqual(request)
    expect(request).toMatchObject({
      askedAt: 1_000,
      expiresAt: 1_500,
      id: expect.stringMatching(/^[0-9a-f]{20}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test.each([
    ['other arguments', requested({ env: 'prod', count: 4 })],
    ['a text instead of a number', requested({ env: 'prod', count: '3' })],
    ['another argument', requested({ env: 'prod', count: 3, force: null })],
  ])('has another hash and id for %s', (_, other) => {
    expect(other.hash).not.toBe(request.hash)
    expect(other.id).not.toBe(request.id)
  })

  test.each([
    ['conversation', requested({ env: 'prod', count: 3 }, { conversation: 'd' })],
    ['turn', requested({ env: 'prod', count: 3 }, { turn: 2 })],
    ['round', requested({ env: 'prod', count: 3 }, { round: 3 })],
    ['place in the round', requested({ env: 'prod', count: 3 }, {}, 1)],
  ])('has another id for the same call in another %s', (_, other) => {
    expect(other.hash).toBe(request.hash)
    expect(other.id).not.toBe(request.id)
  })
})

describe('a decision', () => {
  it('approves', () => {
    const { approval, answer } = decided(pending, approve)
    expect(answer).toEqual({ counted: true, text: 'Approved: deploy runs with exactly these arguments.' })
    expect(verdictOf(approval)).toEqual({ ordinal: 0, verdict: 'pass' })
  })

  it('rejects, and the model reads why', () => {
    const { approval, answer } = decided(pending, reject)
    expect(answer.counted).toBe(true)
    expect(verdictOf(approval)).toEqual({
      ordinal: 0,
      verdict: 'reject',
      code: 'approval.rejected',
      text:
        'a person rejected this call of deploy. The reason given: "not on a Friday". ' +
        'Do not send the same call again; go on without it, or ask the user.',
      evidence: 'by bob',
    })
  })

  test.each([
    ['approved', decided(pending, approve).approval, 'approved by ann at 1970-01-01T00:00:01.200Z. The call may have run already'],
    ['rejected', decided(pending, reject).approval, 'rejected by bob at 1970-01-01T00:00:01.300Z'],
    ['expired', expired(pending, 1_500), 'rejected because nobody decided before 1970-01-01T00:00:01.500Z'],
  ])('changes nothing about a call that is %s, and says so', (_, before, said) => {
    for (const decision of [approve, reject, { ...approve, at: 9_000 }]) {
      const { approval, answer } = decided(before, decision)
      expect(approval).toEqual(before)
      expect(answer).toEqual({ counted: false, text: expect.stringContaining(`Nothing was changed: ${request.id} was ${said}`) })
    }
  })

  it('does not count for other arguments than those that wait', () => {
    for (const other of [requested({ env: 'prod', count: 4 }), requested({ env: 'prod', count: 3 }, { round: 3 })]) {
      const { approval, answer } = decided(pending, { ...approve, id: other.id, hash: other.hash })
      expect(approval).toBe(pending)
      expect(answer).toMatchObject({ counted: false, text: expect.stringContaining('for other arguments') })
    }
    expect(decided(pending, { ...approve, hash: 'x' }).answer.counted).toBe(false)
  })

  it('comes too late in the millisecond in which the call expires', () => {
    expect(decided(pending, { ...approve, at: 1_499 }).approval.kind).toBe('approved')
    expect(decided(pending, { ...approve, at: 1_500 })).toMatchObject({
      approval: { kind: 'expired', at: 1_500 },
      answer: { counted: false },
    })
  })

  it('is answered too where nothing waits', () => {
    expect(unknownAnswer('abc')).toEqual({
      counted: false,
      text: 'Nothing was changed: no call waits under the id abc. Either it never did, or its turn is over.',
    })
  })
})

describe('time', () => {
  it('leaves a pending call alone until it expires, and decided ones for ever', () => {
    expect(expired(pending, 1_499)).toBe(pending)
    expect(verdictOf(pending)).toBeUndefined()
    expect(verdictOf(expired(pending, 1_500))).toMatchObject({ verdict: 'reject', code: 'approval.expired' })
    const approved = decided(pending, approve).approval
    expect(expired(approved, 1e15)).toBe(approved)
  })
})

describe('any order of decisions', () => {
  it('decides once, by the first that counted', () => {
    const at = fc.integer({ min: 1_000, max: 1_600 })
    const decision = fc
      .record({ approves: fc.boolean(), right: fc.boolean(), at })
      .map(({ approves, right, at }): Decision => ({ ...(approves ? approve : reject), hash: right ? request.hash : 'other', at }))
    fc.assert(
      fc.property(fc.array(decision, { maxLength: 8 }), (unordered) => {
        const decisions = [...unordered].sort((one, other) => one.at - other.at)
        let approval: Approval = pending
        let counted = 0
        for (const next of decisions) {
          const result = decided(approval, next)
          if (approval.kind !== 'pending') expect(result.approval).toBe(approval)
          if (result.answer.counted) counted++
          approval = result.approval
        }
        expect(counted).toBeLessThanOrEqual(1)
        expect(approval.kind === 'approved' || approval.kind === 'rejected').toBe(counted === 1)
      }),
    )
  })

  it('gives a text of a size that a guard may send, whatever the reason is', () => {
    const verdict = verdictOf(decided(pending, { ...reject, reason: '𝔵'.repeat(100_000), by: 'b'.repeat(100_000) }).approval)
    expect(verdict?.verdict === 'reject' && Buffer.byteLength(verdict.text)).toBeLessThanOrEqual(limits.guardTextBytesMax)
    expect(verdict?.verdict === 'reject' && Buffer.byteLength(verdict.evidence ?? '')).toBeLessThanOrEqual(limits.guardEvidenceBytesMax)
  })
})
