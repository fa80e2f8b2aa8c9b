// The answers to fronts: guest-advice records, with the effect of a round that is over on the guest's
// next request. A front knows the awaited answer by the request or by the round's key.
//
// GUEST-ADVICE-1. Action and cap are advice: the front carries them out, and no action ends a turn.
// GUEST-ADVICE-2. The advice is decided once, when its round is over. A repeated request gets the
//     same one.

import { deniedBeforeReason, promisesNeverRan } from '../../shared/contract/call/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AdviceAction,
  DeniedCall,
  EndedTurn,
  GuestAdvice,
  GuestResults,
  GuestRound,
  Intervention,
  RoundOutcome,
  StopInForce,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { deniedBefore as deniedBeforeText } from '../../shared/model-texts/endings.ts'
import { stopOfTurn, stopReason } from '../../shared/runtime/settings/stops.ts'
import type { CapStep } from '../turn/allowance.ts'
import { cancelled } from '../turn/endings.ts'
import type { Place } from '../turn/unit.ts'
import { type Advice, hiddenOf, noAdvice, type OpenTurn } from './turn.ts'

/** Bytes of the text of an advice. */
const guestAdviceBytesMax = 16 * 1024

type Fields = Omit<GuestAdvice, 'type' | 'conversation'>
type Conversation = Pick<Place, 'conversation'>

const nothing = {
  ...noAdvice,
  turn: -1,
  turnKey: '',
  unknown: [],
  hidden: [],
  over: [],
  isOpen: true,
  requestId: '',
} satisfies Fields

/** The advice of an open turn: that of its newest round that is over, or a stop's. */
export function advice(
  { conversation }: Conversation,
  turn: OpenTurn,
  fields: Partial<Fields> = {},
): Output {
  const { class: _, ...last } = turn.last
  const [turnKey = ''] = turn.names
  const own = { turn: turn.turn, turnKey, hidden: hiddenOf(turn) }
  const stop = last.action === 'end' ? {} : endBy(turn.stop)
  return answer({ conversation }, { ...nothing, ...last, ...stop, ...own, ...fields })
}

/** The answer to a request of a turn that is over. */
export function adviceOfEnded(
  { conversation }: Conversation,
  { turn, hidden, stopped, rule, cap }: EndedTurn,
  { turnKey, requestId, policy }: GuestResults,
  { unknown, over }: Pick<Fields, 'unknown' | 'over'>,
): Output {
  const fields = { ...nothing, turn, turnKey, hidden, requestId }
  return answer(
    { conversation },
    stopped === ''
      ? { ...fields, unknown, over, ...endBy(stopOfTurn(policy.stops)) }
      : { ...fields, action: 'end', reason: stopped, rule, cap, isOpen: false },
  )
}

function endBy(stop: StopInForce | undefined): Partial<Fields> {
  return stop === undefined ? {} : { action: 'end', text: '', reason: stopReason(stop) }
}

/** The end of a turn that failed, for a front that awaits its outstanding round. */
export function failedAdvice(
  { conversation }: Conversation,
  turn: OpenTurn,
  {
    key,
    turnKey = turn.names[0] ?? '',
    reason,
  }: { key: string; turnKey?: string | undefined; reason: string },
): Output {
  const own = { turn: turn.turn, turnKey, hidden: hiddenOf(turn) }
  return answer({ conversation }, { ...nothing, ...own, key, reason, isOpen: false })
}

/** The answer to a repeated round that is over and is not the newest: which calls never ran. */
export function repeated(
  { conversation }: Conversation,
  { key, turnKey, response }: GuestRound,
  { turn, denied }: { turn: number; denied: readonly number[] },
): Output {
  const calls = response.calls
    .filter(({ ordinal }) => denied.includes(ordinal))
    .map(({ ordinal, id }) => ({ ordinal, callId: id, ...deniedBefore }))
  return answer({ conversation }, { ...nothing, turn, turnKey, key, denied: calls })
}

const deniedBefore = {
  text: deniedBeforeText,
  code: deniedBeforeReason,
  guard: '',
}

/** The answer to a record that counts for nothing. */
export function notCounted(
  { conversation }: Conversation,
  message: GuestRound | GuestResults,
  reason: string,
): Output {
  const turnKey = cutToBytes(message.turnKey, limits.guestKeyBytesMax)
  const of =
    message.type === 'guest-round'
      ? { key: cutToBytes(message.key, limits.guestKeyBytesMax) }
      : { requestId: cutToBytes(message.requestId, limits.guestKeyBytesMax) }
  return answer({ conversation }, { ...nothing, turnKey, ...of, reason, isOpen: false })
}

function answer({ conversation }: Conversation, fields: Fields): Output {
  return { to: 'activity', message: { type: 'guest-advice', conversation, ...fields } }
}

type Step = Omit<Advice, 'round' | 'key' | 'denied'>

const noStep: Step = { action: 'none', text: '', reason: '', rule: null, cap: null, class: null }

/** An operator or a client has stopped the guest. */
export const stopAdvice: Step = {
  ...noStep,
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
  const wished = intervention === null ? noStep : interventionStep(intervention)
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
  return { ...noStep, action, text: withinBounds(action, text), reason, rule, class: of }
}

/** The model makes no further response at `end`, so it needs no text. */
function withinBounds(action: AdviceAction, text: string): string {
  return action === 'end' ? '' : cutToBytes(text, guestAdviceBytesMax)
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
