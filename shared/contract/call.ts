// The argument text of a call, and names that every stage must read alike.

import type { Call } from './messages.ts'

/**
 * The JSON text that a tool gets for a call. `{}` where the model sent no byte: such a call has the
 * problem `no_arguments`, so only the validator's explicit rule for tools without required
 * parameters lets it come this far (I1.1).
 */
export function argumentText(call: Call): string {
  return call.raw === '' ? '{}' : call.raw
}
