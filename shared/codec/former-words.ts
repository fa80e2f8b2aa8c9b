// The words of version 0.1 that have other names today, so its bundles stay readable. Former names of
// fields and records are aliases in schemas/.

/** By the name of the enum: the former symbol and the one of today. */
export const formerWords: Record<string, Record<string, string>> = {
  'weir.VerdictKind': { pass: 'allow', reject: 'deny' },
  'weir.ApprovalAnswer': { approve: 'allow', reject: 'deny' },
  'weir.ApprovalOutcome': { approved: 'allow', rejected: 'deny' },
  'weir.ResultStatus': { rejected: 'denied', vetoed: 'denied', outcome_unknown: 'unknown' },
  'weir.GuardSilence': { reject: 'deny' },
}

/** Version 0.1 named the guard that denied a call only in the reason of its result. */
export function nameGuards(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const result = value as { status?: unknown; reason?: unknown; guard?: unknown }
  if (result.status === 'denied' && result.guard === '')
    result.guard = /^vetoed by guard ([^:]+): /.exec(String(result.reason))?.[1] ?? ''
  for (const inner of Object.values(value)) nameGuards(inner)
}
