// The argument text of a call, and facts that every stage and page must read in the same way.

import type { Call, CallResult } from '../messages.ts'

/**
 * The JSON text that a tool gets for a call. `{}` if the model sent no byte. Such a call has the
 * problem `no_arguments`, so only the validator's explicit rule for tools without required
 * parameters passes it (I1.1).
 */
export function argumentText(call: Call): string {
  return call.raw === '' ? '{}' : call.raw
}

/** Whether a guard or a person denied the call. Otherwise its arguments, its tool or a stop did. */
export function isDeniedByGuard({ status, guard }: Pick<CallResult, 'status' | 'guard'>): boolean {
  return status === 'denied' && guard !== ''
}
