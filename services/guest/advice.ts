// The advice for a guest's next request: the effect of a round that is over.
//
// GUEST-ADVICE-1. InterventionAction and cap are advice: the front carries them out, and no action ends a turn.
// GUEST-ADVICE-2. The advice is decided once, when its round is over. A repeated request gets the
//     same one.

import { promisesNeverRan } from '../../shared/contract/call/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AdviceAction,
  DeniedCall,
  FailureClass,
  GuestAdvice,
  Intervention,
  RoundOutcome,
} from '../../shared/contract/messages.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import type { CapStep } from '../turn/allowance.ts'
import { cancelled } from '../turn/endings.ts'

export type Advice = Pick<
  GuestAdvice,
  'round' | 'key' | 'action' | 'text' | 'reason' | 'rule' | 'cap' | 'denied'
> & {
  /** The failure class of a turn that ends after it. */
  class: FailureClass | null
}

type Step = Omit<Advice, 'round' | 'key' | 'denied'>

const nothing: Step = { action: 'none', text: '', reason: '', rule: null, cap: null, class: null }

export const noAdvice: Advice = { ...nothing, round: 0, key: '', denied: [] }

/** An operator or a client has stopped the guest. */
export const stopAdvice: Step = {
  ...nothing,
  action: 'end',
  reason: cancelled.reason,
  class: cancelled.class,
}

const weights: Record<AdviceAction, number> = { none: 0, nudge: 1, text_only: 2, end: 3 }

/**
 * The higher of the detector's intervention and the step for a reached cap. `last`: the advice
 * before. A cap on rounds or calls allows one more response.
 */
export function adviceFor(
  intervention: Intervention | null,
  last: Advice,
  step: CapStep | undefined,
): Step {
  const wished = intervention === null ? nothing : interventionStep(intervention)
  if (step === undefined) return wished
  const { cap, reason, nudge } = step
  const isLast = nudge === undefined || last.cap === cap
  const action = isLast ? 'end' : 'text_only'
  if (weights[wished.action] > weights[action]) return { ...wished, cap }
  const text = [wished.text, nudge ?? ''].filter((part) => part !== '').join('\n\n')
  const { rule } = wished
  return { action, text: withinBounds(action, text), reason, rule, cap, class: 'budget' }
}

function interventionStep({ action, text, reason, rule, class: of }: Intervention): Step {
  return { ...nothing, action, text: withinBounds(action, text), reason, rule, class: of }
}

/** The model makes no further response at `end`, so it needs no text. */
function withinBounds(action: AdviceAction, text: string): string {
  return action === 'end' ? '' : cutToBytes(text, limits.guestAdviceBytesMax)
}

/** The calls that never ran. No other front may run them. */
export function deniedCalls({ response: { calls }, results }: RoundOutcome): DeniedCall[] {
  return results
    .filter(({ status }) => promisesNeverRan(status))
    .map(({ ordinal, text, reason, guard }) => ({
      ordinal,
      callId: calls.find((call) => call.ordinal === ordinal)?.id ?? '',
      text: cutToBytes(text, limits.denialTextBytesMax),
      code: reason,
      guard,
    }))
}
