// The decision: what follows from a round of an open turn. First that fits, from top to bottom.
// CONVERSATION-DECISION-1. After a cap on rounds there is one more request at most (I3).

import type { Response, RoundOutcome } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { reachedCap } from './caps.ts'
import type { Ending } from './ending.ts'
import { capNudge, reasons } from './texts.ts'
import { type Asked, capsNow, type Turn, totalsOf } from './turn.ts'

export type Decision = { kind: 'end'; ending: Ending } | { kind: 'ask'; ask: Omit<Asked, 'round'> }

/** `turn` has counted this very round already. */
export function decide(
  turn: Turn,
  { response, failure, intervention }: RoundOutcome,
  time: Milliseconds,
): Decision {
  const { textOnly } = turn.asked
  const caps = capsNow(turn)
  const totals = totalsOf(turn, time)
  const tokens = totals.inputTokens + totals.outputTokens
  const hasText = response.text.trim() !== ''

  if (failure !== null) {
    // The gateway fails a round at the very time that is the turn's wall limit: whichever record is
    // first, the turn ends alike.
    if (totals.wallMs >= caps.wallMs) return capped('wall', reasons.wall(caps.wallMs))
    return failed(failure.class, failure.reason)
  }
  // A silent last request is the end either way; where a cap had asked for it, the turn ends as
  // capped, with the cap named (I3).
  if (intervention?.rung === 'end' && !textOnly?.cap)
    return failed(intervention.class ?? 'no_progress', intervention.reason)
  // A text that an intervention speaks against (it repeats itself) is no reply, unless it is the
  // last one that was to be had; neither is a call that the model wrote as text and that it is told
  // could not run (I2).
  const isUnread = response.textCalls?.fault != null
  const isReply =
    response.calls.length === 0 && (intervention === null || (intervention.ordinary && !isUnread))
  if (hasText && (isReply || textOnly !== null)) return answered(response, textOnly?.cap ?? null)
  if (response.stop === 'refusal' && response.calls.length === 0)
    return failed('refused', reasons.refused)
  if (textOnly !== null) {
    return textOnly.cap === null
      ? failed('no_progress', textOnly.reason)
      : capped(textOnly.cap, reasons.capped(textOnly.reason))
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
      return ask({
        callsLeft: 0,
        nudge: text === null ? nudge : `${text}\n\n${nudge}`,
        textOnly: { cap, reason: reasons[cap](caps[cap]) },
      })
    }
    case undefined:
      if (intervention?.rung === 'text_only')
        return ask({
          callsLeft: 0,
          nudge: text,
          textOnly: { cap: null, reason: intervention.reason },
        })
      return ask({ callsLeft: caps.calls - totals.calls, nudge: text, textOnly: null })
  }
}

function ask(ask: Omit<Asked, 'round'>): Decision {
  return { kind: 'ask', ask }
}

/**
 * A reply that was cut is one, and says so: whoever reads only the reply would take it for whole.
 */
function answered({ text: reply, stop }: Response, cap: Ending['cap']): Decision {
  const how = cap === null ? reasons.answered : reasons.answeredAtCap(cap)
  const reason = stop === 'length' || stop === 'refusal' ? `${how}; ${reasons.cutBy[stop]}` : how
  return { kind: 'end', ending: { outcome: 'answered', reply, reason, class: null, cap } }
}

function capped(cap: NonNullable<Ending['cap']>, reason: string): Decision {
  return { kind: 'end', ending: { outcome: 'capped', reason, class: 'budget', cap } }
}

function failed(failureClass: NonNullable<Ending['class']>, reason: string): Decision {
  return { kind: 'end', ending: { outcome: 'failed', reason, class: failureClass, cap: null } }
}
