// The decision: the effect of a finished round on its open turn. The first case that fits applies.
//
// CONVERSATION-DECISION-1. After a cap on rounds there is at most one more request (I3).

import { limits } from '../../shared/contract/limits.ts'
import type { Cap, Response, RoundOutcome } from '../../shared/contract/messages.ts'
import { isReply, reachedCap } from '../../shared/contract/turn/turn-rules.ts'
import { capNudge, reasons } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { outputNudge } from '../../shared/model-texts/requests.ts'
import type { Ending } from './ending.ts'
import { type JudgedOutput, judgedOutput } from './output.ts'
import { capsNow, type RequestedRound, type Turn, totalsOf } from './turn.ts'

export type Decision =
  | { kind: 'end'; ending: Ending }
  /** `isOutputRetry`: because the reply does not fit the schema of its message. */
  | { kind: 'request'; request: Omit<RequestedRound, 'round'>; isOutputRetry?: true }

/** `turn` already includes this round. */
export function decide(
  turn: Turn,
  { response, failure, intervention }: RoundOutcome,
  time: Milliseconds,
): Decision {
  const { textOnly } = turn.requested
  const caps = capsNow(turn)
  const totals = totalsOf(turn, time)
  const tokens = totals.inputTokens + totals.outputTokens

  if (failure !== null) {
    // The gateway fails a round at the wall limit of the turn. Of the two records either may be
    // first, and the turn must end alike.
    if (totals.wallMs >= caps.wallMs) return capped('wall', reasons.wall(caps.wallMs))
    return failed(failure.class, failure.reason)
  }
  // The turn ends if the response to the last request has no text. If a cap required that request,
  // the turn ends as capped and names the cap (I3).
  if (intervention?.rung === 'end' && !textOnly?.cap)
    return failed(intervention.class ?? 'no_progress', intervention.reason)
  // Nothing but a call that the agent does not run. In the last request it is no answer.
  const isOnlyCall = response.textCalls?.held === 'tell'
  const isLastText = response.text.trim() !== '' && !isOnlyCall
  // A reply that must fit a schema is judged by it alone.
  const hasSchema = turn.message.settings.output !== null
  if (textOnly === null ? isReply(response, intervention, hasSchema) : isLastText) {
    const judged = judgedReply(turn, response)
    if ('text' in judged) return answered(response, judged.text, textOnly?.cap ?? null)
    return unfit(turn, judged.problem, {
      cap: reachedCap(caps, { ...totals, tokens }),
      intervention,
    })
  }
  if (response.stop === 'refusal' && response.calls.length === 0)
    return failed('refused', reasons.refused)
  if (textOnly !== null) {
    return textOnly.cap === null
      ? failed('no_progress', textOnly.reason)
      : capped(textOnly.cap, reasons.capped(textOnly.reason, isOnlyCall))
  }

  const cap = reachedCap(caps, { ...totals, tokens })
  const text = intervention?.text || null
  switch (cap) {
    case 'tokens':
      return capped(cap, reasons.tokens(caps.tokens ?? 0, tokens))
    case 'wall':
      return capped(cap, reasons.wall(caps.wallMs))
    case 'rounds':
    case 'calls': {
      const nudge = capNudge(cap, caps[cap])
      return request({
        callsLeft: 0,
        nudge: text === null ? nudge : `${text}\n\n${nudge}`,
        textOnly: { cap, reason: reasons[cap](caps[cap]) },
      })
    }
    case undefined:
      if (intervention?.rung === 'text_only')
        return request({
          callsLeft: 0,
          nudge: text,
          textOnly: { cap: null, reason: intervention.reason },
        })
      return request({ callsLeft: caps.calls - totals.calls, nudge: text, textOnly: null })
  }
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
  if (cap !== undefined) return capped(cap, reasons.output(problem))
  if (textOnly !== null || turn.outputRetries >= limits.outputRetriesMax)
    return failed('no_progress', reasons.output(problem))
  const { rung, reason, text = '' } = found.intervention ?? {}
  const nudge = [text, outputNudge(problem)].filter((part) => part !== '').join('\n\n')
  const isTextOnly = rung === 'text_only'
  const request = {
    callsLeft: isTextOnly ? 0 : capsNow(turn).calls - turn.used.calls,
    nudge,
    textOnly: isTextOnly ? { cap: null, reason: reason ?? '' } : null,
  }
  return { kind: 'request', request, isOutputRetry: true }
}

function request(request: Omit<RequestedRound, 'round'>): Decision {
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
  return { kind: 'end', ending: { outcome: 'answered', reply, reason, class: null, cap } }
}

function capped(cap: NonNullable<Ending['cap']>, reason: string): Decision {
  return { kind: 'end', ending: { outcome: 'capped', reason, class: 'budget', cap } }
}

function failed(failureClass: NonNullable<Ending['class']>, reason: string): Decision {
  return { kind: 'end', ending: { outcome: 'failed', reason, class: failureClass, cap: null } }
}
