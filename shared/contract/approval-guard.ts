// The approval guard by its name: the one guard that is a stage of Weir's own (services/approval),
// because a person's answer is no function of the round.

export const approvalGuard = 'approval'

/**
 * Of its verdict on a call for which nobody waits any more: that is no judgement, and counts for
 * nothing.
 */
export const withdrawnCode = 'approval.withdrawn'
