// The approval guard by its name: the one guard that is a stage of Weir's own (services/approval), because a person's answer is no function of the round.

export const approvalGuard = 'approval'
