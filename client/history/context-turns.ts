// The turns that a bundle has only as context for later requests.

import type { Bundle } from '../../shared/bus/bundle/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'

/**
 * True: the bundle has only the history of this turn, as context of other turns of the
 * conversation. Always false for a log.
 */
export function contextIn(
  conversation: ConversationId,
  bundle: Bundle | undefined,
): (turn: number) => boolean {
  const exported = new Set(bundle?.turnsOf(conversation))
  return (turn) => exported.size > 0 && !exported.has(turn)
}
