// The texts for the model in a refusal by a front whose host shows no history (hooks, MCP).

import type { Advice } from '../../../client/guard/guest-conversation.ts'
import { noVisibleText } from '../../../services/loop-detector/judgement.ts'

export const undecided =
  'Not run: no person or guard decided on this call in time. Do not repeat it now; go on without it, or ask the user.'
export const cannotJudge =
  'Not run: Weir cannot judge calls now. Do not repeat the call. Tell the user that Weir must be checked.'

export function endedText(reason: string): string {
  return `Weir has ended this turn. Call no tool, because none will run. Answer the user in plain text. The reason: ${withoutText(reason)}`
}

/** The reason of a front that sees no text of the model. It sees that the model called a tool again. */
export function withoutText(reason: string): string {
  return reason.replace(noVisibleText, calledAgain)
}

const calledAgain = 'asked for an answer without tools, the model called a tool again'

/** At `end` the reason is one more text. */
export function textOfAdvice({
  rung,
  reason,
  text,
}: Pick<Advice, 'rung' | 'reason' | 'text'>): string {
  return rung === 'end' ? endedText(reason) : text
}

export const hostIsGone = 'Not run: the host no longer waits for this call.'
