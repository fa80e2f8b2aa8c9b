// The response that is the reply of a turn.

import type { Intervention, Response } from '../../shared/contract/messages.ts'

/**
 * Whether the response ends its turn. A text with an intervention against it (it repeats itself) is
 * no reply, unless a schema alone judges it (`hasSchema`). Neither is a call that the model wrote as
 * text: the next request explains that it cannot run (I2).
 */
export function isReply(
  { text, calls, textCalls }: Response,
  intervention: Intervention | null,
  hasSchema = false,
): boolean {
  if (text.trim() === '' || calls.length > 0) return false
  if (intervention === null) return true
  return textCalls?.fault == null && (intervention.ordinary || hasSchema)
}
