import { describe, expect, it } from '@jest/globals'
import { type Approval, expired } from '../../../services/approval/approval.ts'
import { askedRound } from '../../../services/approval/asked-round.ts'
import { entryUnder } from '../../../services/approval/desk.ts'
import { approvalOf, asked, expiresAt } from './samples.ts'

const now = expiresAt - 1
const entry = (approval: Approval) => ({ partition: 0, approval, decidedAt: undefined })
const pending = approvalOf(askedRound(asked()), 0)
const { id } = pending.request

/** Another call that somebody made to have the same id. */
function twin(conversation: string): Approval {
  return {
    kind: 'pending',
    request: { ...approvalOf(askedRound(asked({ conversation })), 0).request, id },
  }
}

describe('a decision under an id', () => {
  it('is for the call that waits under it, not for one that was decided before', () => {
    const over = expired(twin('d'), expiresAt)
    expect(entryUnder(id, [entry(over), entry(pending)], now).approval).toBe(pending)
    expect(entryUnder(id, [entry(over)], now).approval).toBe(over)
  })

  it('is refused where two calls wait under it, and both are named', () => {
    const two = () => entryUnder(id, [entry(pending), entry(twin('d'))], now)
    expect(two).toThrow(expect.objectContaining({ code: 'approval.ambiguous' }))
    expect(two).toThrow(/2 calls wait under .* conversation c\); .* conversation d\)/)
  })

  it('under which nothing waits is refused', () => {
    expect(() => entryUnder('0000-0000-0000', [entry(pending)], now)).toThrow(
      expect.objectContaining({ code: 'approval.unknown' }),
    )
  })
})
