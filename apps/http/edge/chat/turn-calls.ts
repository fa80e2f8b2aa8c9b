// The calls of one turn: their ids for chat protocols, and whether the turn waits for its client or
// for persons only. Pure: the events of the turn go in, in order. Selected from the view of the turn.
// The turn is paused when a call waits for a person or for the client and no other call
// runs.
// The calls of a round run after its last decision. Without a person, a call that can
// start is awaited, so a pause has all offers of a round.

import type { CallPlace, TurnEvent } from '../../../../client/weir.ts'
import {
  asSent,
  type WithArguments,
  withArguments,
} from '../../../../shared/contract/call/call-arguments.ts'
import { type InputQuestion, questionIn } from '../../../../shared/contract/call/input-question.ts'
import type { AnsweredCall, Message } from '../../../../shared/contract/messages.ts'
import { type ApprovalView, isOver, type RoundView } from '../../../../shared/view/round-view.ts'
import { stoppingRule } from '../../../../shared/view/turn-facts.ts'
import { addToTurn, beginTurn } from '../../../../shared/view/turn-view.ts'

export type Event<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>

/**
 * A call that the next request can answer: a person decides it, or the client runs it. `id`: of the
 * approval, or the callId of a call of the client. `callId`: see callIdOf.
 */
export type WaitingCall = {
  kind: 'approval' | 'client'
  id: string
  callId: string
  name: string
  rule: string
  until: number
  /** Of a running tool. */
  question?: InputQuestion
  /** The whole text of the arguments, if the response of the model has only its beginning. */
  rawArguments?: string
}

/** A call without its end. `mayStart`: the turn has calls left for it. */
export type OpenCall = WithArguments<AnsweredCall> & {
  callId: string
  mayStart: boolean
  isRunning: boolean
  /** It is offered to the client. */
  offer: WaitingCall | undefined
  /** The oldest first. A running tool may have several. */
  approvals: (WaitingCall & Pick<ApprovalView, 'decided'>)[]
}

export type TurnCalls = {
  see(event: TurnEvent): void
  /** The open call at this place. Undefined: it is over, or unknown. */
  open(place: CallPlace): OpenCall | undefined
  all(): OpenCall[]
  /** The calls that wait for an answer, if the turn is paused. Empty: it is not. */
  paused(): WaitingCall[]
  /** The last rule that removed the tools or ended the turn; `guard` for a guard. Null: none did. */
  rule(): string | null
}

/** Unique in a conversation. The provider's ids are not: models reuse them. */
export function callIdOf({ turn, round, ordinal }: CallPlace): string {
  return `call-${turn}-${round}-${ordinal}`
}

export function createTurnCalls(): TurnCalls {
  const view = beginTurn(0, 0)

  function all(): OpenCall[] {
    return view.end === undefined ? [...view.rounds.values()].flatMap(openCallsIn) : []
  }

  function paused(): WaitingCall[] {
    const calls = all()
    const waitingOf = ({ approvals }: OpenCall) =>
      approvals.filter(({ decided }) => decided === undefined)
    // A running call may wait for the answer to its question.
    if (calls.some((call) => call.isRunning && waitingOf(call).length === 0)) return []
    const persons = calls.flatMap(waitingOf)
    const offers = calls.flatMap(({ offer }) => offer ?? [])
    const startsSoon = calls.some(({ mayStart, offer }) => mayStart && offer === undefined)
    return persons.length === 0 && startsSoon ? [] : [...persons, ...offers]
  }

  return {
    see(event) {
      const message = recordOf(event)
      if (message !== undefined) addToTurn(view, { topic: 'activity', time: 0, message }, 'open')
    },
    open: (place) => all().find(({ callId }) => callId === callIdOf(place)),
    all,
    paused,
    rule: () => stoppingRule(view.facts) ?? null,
  }
}

/** Undefined: the event is no record of the log. */
function recordOf(event: TurnEvent): Message | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'text-reset':
    case 'reasoning-delta':
    case 'turn-waiting':
      return undefined
    case 'model-answered':
      return { ...event, calls: event.calls.map(asSent) }
    case 'approval-pending':
      return { ...event, calls: event.calls.map(asSent) }
    case 'call-finished':
      return { ...event, result: event.rawResult }
    default:
      return event
  }
}

function openCallsIn({ stage, calls, approvals: all }: RoundView): OpenCall[] {
  const answered = stage['model-answered']?.message
  const callsLeft = stage['round-started']?.message.callsLeft ?? 0
  const inOrder = answered?.calls.toSorted((a, b) => a.ordinal - b.ordinal) ?? []
  return inOrder.flatMap((sent, at): OpenCall[] => {
    const { ordinal, name } = sent
    const state = calls.get(ordinal)
    if (answered === undefined || state === undefined || isOver(state)) return []
    const callId = callIdOf({ ...answered, ordinal })
    const { offered, startedAt } = state
    const own = { kind: 'client', id: callId, callId, name, rule: '' } as const
    const offer = offered && { ...own, until: offered.until }
    const asked = all.filter((one) => one.ordinal === ordinal)
    const approvals = asked.flatMap((one) => approvalOf(callId, sent.arguments, one))
    const isRunning = startedAt !== undefined
    const call = withArguments(sent)
    return [{ ...call, callId, mayStart: at < callsLeft, isRunning, offer, approvals }]
  })
}

/** `seen`: the arguments in the response. */
function approvalOf(
  callId: string,
  seen: string,
  { call, decided }: ApprovalView,
): OpenCall['approvals'] {
  if (call === undefined) return []
  const { id, name, rule, until } = call
  const question = call.question === null ? undefined : questionIn(call.question)
  const shown = { kind: 'approval' as const, id, callId, name, rule, until }
  const isCut = call.question === null && call.arguments !== seen
  return [
    {
      ...shown,
      ...(question && { question }),
      ...(isCut && { rawArguments: call.arguments }),
      ...(decided && { decided }),
    },
  ]
}

/** Undefined: no id of a call. */
export function placeOfCall(callId: string): CallPlace | undefined {
  const [, turn, round, ordinal] = /^call-(\d{1,16})-(\d{1,9})-(\d{1,9})$/.exec(callId) ?? []
  if (ordinal === undefined) return undefined
  return { turn: Number(turn), round: Number(round), ordinal: Number(ordinal) }
}
