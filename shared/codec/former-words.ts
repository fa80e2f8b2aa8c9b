// The words of version 0.1 that have other names today, so its bundles stay readable.

/** By the name of the enum: the former symbol and the one of today. */
export const formerWords: Record<string, Record<string, string>> = {
  'weir.VerdictKind': { pass: 'allow', reject: 'deny' },
  'weir.ApprovalAnswer': { approve: 'allow', reject: 'deny' },
  'weir.ApprovalOutcome': { approved: 'allow', rejected: 'deny' },
  'weir.ResultStatus': { rejected: 'denied', vetoed: 'denied', outcome_unknown: 'unknown' },
  'weir.GuardSilence': { reject: 'deny' },
}
