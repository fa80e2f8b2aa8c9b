// The reasons of calls that a guard or a person denied. A model may read them, so their bytes stay.

import type { CallResult } from '../messages.ts'

/** The reason of a call whose program is no longer the one that a person allowed. */
export const programChangedReason = 'its program changed after the question'

/** The reason of a call that a guard denied. The model may read it. */
export function reasonOfDenial(guard: string, code: string): string {
  return `vetoed by guard ${guard}: ${code}`
}

/** The guard that denied a call whose result has this reason. Undefined: none did. */
export function guardOfDenial(reason: string): string | undefined {
  return /^vetoed by guard ([^:]+): /.exec(reason)?.[1]
}

/** Whether a guard or a person denied the call. Otherwise its arguments, its tool or a stop did. */
export function isDeniedByGuard({
  status,
  reason,
}: Pick<CallResult, 'status' | 'reason'>): boolean {
  const isByGuard = guardOfDenial(reason) !== undefined || reason === programChangedReason
  return status === 'denied' && isByGuard
}
