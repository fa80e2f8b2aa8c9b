// The answers to fronts: guest-advice records. The front that awaits one knows it by its request or
// by the key of its round.

import { deniedBeforeReason } from '../../shared/contract/call/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  EndedTurn,
  GuestAdvice,
  GuestResults,
  GuestRound,
  StopInForce,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { deniedBefore as deniedBeforeText } from '../../shared/model-texts/endings.ts'
import { stopOfTurn, stopReason } from '../../shared/runtime/settings/stops.ts'
import type { Place } from '../turn/unit.ts'
import { hiddenOf, type OpenTurn } from './turn.ts'

type Fields = Omit<GuestAdvice, 'type' | 'conversation'>
type Conversation = Pick<Place, 'conversation'>

const nothing = {
  turn: -1,
  turnKey: '',
  round: 0,
  key: '',
  action: 'none',
  text: '',
  reason: '',
  rule: null,
  cap: null,
  unknown: [],
  denied: [],
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
