// The decision: the effect of a finished round on its open turn. The first case that fits applies.
//
// After a cap on rounds there is at most one more request (I3).

import { limits } from '../../shared/contract/limits.ts'
import type { Cap, Response, RoundOutcome } from '../../shared/contract/messages.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { outputNudge } from '../../shared/model-texts/requests.ts'
import { type CapStep, capStep, expiresAt, wallStep } from '../turn/allowance.ts'
import { capped, type Ending, failed } from '../turn/endings.ts'
import { isReply } from '../turn/reply.ts'
import type { TurnEnding } from './ending.ts'
import { type JudgedOutput, judgedOutput } from './output.ts'
import type { RequestedRound, Turn } from './turn.ts'

export type Decision =
  | { kind: 'end'; ending: TurnEnding }
  /** `isOutputRetry`: because the reply does not fit the schema of its message. */
  | { kind: 'request'; request: RequestedRound; isOutputRetry?: true }

/** `turn` already includes this round. */
export function decide(
  turn: Turn,
  { response, failure, intervention }: RoundOutcome,
  time: Milliseconds,
): Decision {
  const { textOnly } = turn.requested
  const { allowance } = turn
  const step = capStep(allowance, time)

  if (failure !== null) {
    // The gateway fails a round at the wall limit of the turn. Of the two records either may be
    // first, and the turn must end alike.
    return time >= expiresAt(allowance)
      ? end(capped(wallStep(allowance)))
      : end(failed(failure.class, failure.reason))
  }
  // The turn ends if the response to the last request has no text. If a cap required that request,
  // the turn ends as capped and names the cap (I3).
  if (intervention?.action === 'end' && !textOnly?.cap)
    return end(failed(intervention.class ?? 'no_progress', intervention.reason))
  // Nothing but a call that the agent does not run. In the last request it is no answer.
  const isOnlyCall = response.textCalls?.held === 'tell'
  const isLastText = response.text.trim() !== '' && !isOnlyCall
  // A reply that must fit a schema is judged by it alone.
  const hasSchema = turn.message.settings.output !== null
  if (textOnly === null ? isReply(response, intervention, hasSchema) : isLastText) {
    const judged = judgedReply(turn, response)
    if ('text' in judged) return answered(response, judged.text, textOnly?.cap ?? null)
    return unfit(turn, judged.problem, { cap: step?.cap, intervention })
  }
  if (response.stop === 'refusal' && response.calls.length === 0)
    return end(failed('refused', reasons.refused))
  if (textOnly !== null) {
    const { cap, reason } = textOnly
    return cap === null
      ? end(failed('no_progress', reason))
      : end(capped({ cap, reason: reasons.capped(reason, isOnlyCall) }))
  }

  const text = intervention?.text || null
  if (step !== undefined) return atCap(step, text)
  if (intervention?.action === 'text_only')
    return request({
      callsLeft: 0,
      nudge: text,
      textOnly: { cap: null, reason: intervention.reason },
    })
  const callsLeft = allowance.caps.calls - allowance.used.calls
  return request({ callsLeft, nudge: text, textOnly: null })
}

function atCap(step: CapStep, text: string | null): Decision {
  const { cap, reason, nudge } = step
  if (nudge === undefined) return end(capped(step))
  return request({
    callsLeft: 0,
    nudge: text === null ? nudge : `${text}\n\n${nudge}`,
    textOnly: { cap, reason },
  })
}

function judgedReply({ message }: Turn, { text }: Response): JudgedOutput {
  const { output } = message.settings
  return output === null ? { text } : judgedOutput(text, output)
}

/** A reply that does not fit its schema is requested again, unless a cap is reached. */
function unfit(
  turn: Turn,
  problem: string,
  found: { cap: Cap | undefined; intervention: RoundOutcome['intervention'] },
): Decision {
  const { textOnly } = turn.requested
  const cap = found.cap ?? textOnly?.cap ?? undefined
  const reason = reasons.output(problem)
  if (cap !== undefined) return end(capped({ cap, reason }))
  if (textOnly !== null || turn.outputRetries >= limits.outputRetriesMax)
    return end(failed('no_progress', reason))
  const { action, reason: detected = '', text = '' } = found.intervention ?? {}
  const nudge = [text, outputNudge(problem)].filter((part) => part !== '').join('\n\n')
  const isTextOnly = action === 'text_only'
  const request = {
    callsLeft: isTextOnly ? 0 : turn.allowance.caps.calls - turn.allowance.used.calls,
    nudge,
    textOnly: isTextOnly ? { cap: null, reason: detected } : null,
  }
  return { kind: 'request', request, isOutputRetry: true }
}

function request(request: RequestedRound): Decision {
  return { kind: 'request', request }
}

/**
 * A cut reply is a reply. Its reason mentions the cut, because the text alone looks complete. It
 * also mentions a call in the text that did not run.
 */
function answered({ stop, textCalls }: Response, reply: string, cap: Ending['cap']): Decision {
  const how = cap === null ? reasons.answered : reasons.answeredAtCap(cap)
  const reason = [
    how,
    ...(stop === 'length' || stop === 'refusal' ? [reasons.cutBy[stop]] : []),
    ...(textCalls?.held != null ? [reasons.heldCall] : []),
  ].join('; ')
  return end({ outcome: 'answered', reply, reason, class: null, cap })
}

function end(ending: TurnEnding): Decision {
  return { kind: 'end', ending }
}
