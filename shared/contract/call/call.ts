// The argument text of a call, and names that every stage must read in the same way.

import type { Call } from '../messages.ts'

/**
 * The JSON text that a tool gets for a call. `{}` if the model sent no byte. Such a call has the
 * problem `no_arguments`, so only the validator's explicit rule for tools without required
 * parameters passes it (I1.1).
 */
export function argumentText(call: Call): string {
  return call.raw === '' ? '{}' : call.raw
}
