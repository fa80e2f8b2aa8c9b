import { describe, expect, it } from '@jest/globals'
import { type Approval, applyTime } from '../../../../services/approval/approval.ts'
import { approvalRound } from '../../../../services/approval/approval-round.ts'
import { entryUnder } from '../../../../services/approval/performer/approvals.ts'
import { approvalAsked, approvalOf, expiresAt } from '../samples.ts'

const now = expiresAt - 1
const entry = (approval: Approval) => ({ partition: 0, approval, decidedAt: undefined })
const pending = approvalOf(approvalRound(approvalAsked()), 0)
const { id } = pending.request

/** Another call, made to have the same id. */
function twin(conversation: string): Approval {
  return {
    kind: 'pending',
    request: { ...approvalOf(approvalRound(approvalAsked({ conversation })), 0).request, id },
  }
}

describe('entryUnder', () => {
  it('returns the call that waits under the id, not one that was decided before', () => {
    const over = applyTime(twin('d'), expiresAt)
    expect(entryUnder(id, [entry(over), entry(pending)], now).approval).toBe(pending)
    expect(entryUnder(id, [entry(over)], now).approval).toBe(over)
  })

  it('refuses an id under which two calls wait, and names both', () => {
    const two = () => entryUnder(id, [entry(pending), entry(twin('d'))], now)
    expect(two).toThrow(expect.objectContaining({ code: 'approval.ambiguous' }))
    expect(two).toThrow(/2 calls wait under .* conversation c\); .* conversation d\)/)
  })

  it('refuses an id under which nothing waits', () => {
    expect(() => entryUnder('0000-0000-0000', [entry(pending)], now)).toThrow(
      expect.objectContaining({ code: 'approval.unknown' }),
    )
  })

  it('takes an id without dashes, and repeats an unknown one as it was typed', () => {
    const typed = id.replaceAll('-', '').toUpperCase()
    expect(entryUnder(typed, [entry(pending)], now).approval).toBe(pending)
    expect(() => entryUnder('undefined', [entry(pending)], now)).toThrow(/under the id "undefined"/)
  })
})
