// The texts for the model in a refusal by a front whose host shows no history (hooks, MCP).

import type { Advice } from '../../../client/guard/guest-conversation.ts'
import { noVisibleText } from '../../../services/loop-detector/judgement.ts'

export const undecided =
  'Not run: no person or guard decided on this call in time. Do not repeat it now; go on without it, or ask the user.'
export const cannotJudge =
  'Not run: Weir cannot judge calls now. Do not repeat the call. Tell the user that Weir must be checked.'

/** These fronts see no text of the model. They see that it called a tool again. */
export function endedText(reason: string): string {
  const seen = reason.replace(noVisibleText, calledAgain)
  return `Weir has ended this turn. Call no tool, because none will run. Answer the user in plain text. The reason: ${seen}`
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
