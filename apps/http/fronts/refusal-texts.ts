// The end of a turn for the model of a host that shows no history (hooks, MCP).

import type { Advice } from '../../../client/guard/guest-conversation.ts'
import { noVisibleText } from '../../../services/loop-detector/judgement.ts'
import { endedTurn } from '../../../shared/model-texts/guests.ts'

export function endedText(reason: string): string {
  return endedTurn(withoutText(reason))
}

/** The reason of a front that sees no text of the model. It sees that the model called a tool again. */
export function withoutText(reason: string): string {
  return reason.replace(noVisibleText, calledAgain)
}

const calledAgain = 'asked for an answer without tools, the model called a tool again'

/** At `end` the reason is one more text. */
export function textOfAdvice({
  action,
  reason,
  text,
}: Pick<Advice, 'action' | 'reason' | 'text'>): string {
  return action === 'end' ? endedText(reason) : text
}
