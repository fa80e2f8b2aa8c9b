// The end of a turn for the model of a host that shows no history (hooks, MCP).

import type { Advice } from '../../../client/guard/guest-conversation.ts'
import { endedTurn } from '../../../shared/model-texts/guests.ts'

/** At `end` the reason is one more text. */
export function textOfAdvice({
  action,
  reason,
  text,
}: Pick<Advice, 'action' | 'reason' | 'text'>): string {
  return action === 'end' ? endedTurn(reason) : text
}
