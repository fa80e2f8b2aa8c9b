// The name of the approval guard. It is the one guard that is a stage of Weir (services/approval),
// because a person's answer is not a function of the round.

export const approvalGuard = 'approval'

/**
 * The code of its verdict on a call for which nobody waits any more. It is not a judgement and does
 * not count.
 */
export const withdrawnCode = 'approval.withdrawn'

/** The code of its verdict on a call that a person allowed. */
export const allowedCode = 'approval.allowed'

/** The code of its verdict on a call that no rule names: nobody was shown its program. */
export const noRuleCode = 'approval.no-rule'
