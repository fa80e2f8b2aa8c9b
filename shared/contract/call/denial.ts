// The reasons of calls that a guard or a person denied. A model may read them, so their bytes stay.

import type { CallResult } from '../messages.ts'

/** The reason of a call whose program is no longer the one that a person allowed. */
export const programChangedReason = 'its program changed after the question'

/** The reason of a call that a guard denied. The model may read it. */
export function reasonOfDenial(guard: string, code: string): string {
  return `vetoed by guard ${guard}: ${code}`
}

/** Whether a guard or a person denied the call. Otherwise its arguments, its tool or a stop did. */
export function isDeniedByGuard({ status, guard }: Pick<CallResult, 'status' | 'guard'>): boolean {
  return status === 'denied' && guard !== ''
}
