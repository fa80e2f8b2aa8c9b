// The calls of one turn: their ids for chat protocols, and whether the turn waits for its client or
// for persons only. Pure: the events of the turn go in, in order.
// TURN-CALLS-1. The turn is paused when a call waits for a person or for the client and no other call
//     runs.
// TURN-CALLS-2. The calls of a round run after its last decision. Without a person, a call that can
//     start is awaited, so a pause has all offers of a round.

import type { CallPlace, TurnEvent } from '../../../../client/weir.ts'
import { type InputQuestion, questionIn } from '../../../../shared/contract/call/input-question.ts'

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
}

/**
 * A call without its end. `input`: its arguments as a value, otherwise the text as sent. `mayStart`:
 * the turn has calls left for it.
 */
export type OpenCall = {
  callId: string
  name: string
  input: unknown
  arguments: string
  mayStart: boolean
  isRunning: boolean
  /** It is offered to the client. */
  offer?: WaitingCall
  approval?: { call: WaitingCall; decided?: Event<'approval-decided'> }
}

export type TurnCalls = {
  see(event: TurnEvent): void
  /** The open call at this place. Undefined: it is over, or unknown. */
  open(place: CallPlace): OpenCall | undefined
  /** All open calls. */
  all(): OpenCall[]
  /** The calls that wait for an answer, if the turn is paused. Empty: it is not. */
  paused(): WaitingCall[]
}

/** Unique in a conversation. The provider's ids are not: models reuse them. */
export function callIdOf({ turn, round, ordinal }: CallPlace): string {
  return `call-${turn}-${round}-${ordinal}`
}

export function createTurnCalls(): TurnCalls {
  const calls = new Map<string, OpenCall>()
  let callsLeft = 0

  function see(event: TurnEvent): void {
    if (event.type === 'round-started') callsLeft = event.callsLeft
    if (event.type === 'model-answered') {
      const inOrder = event.calls.toSorted((a, b) => a.ordinal - b.ordinal)
      for (const [at, { ordinal, name, input, arguments: text }] of inOrder.entries()) {
        const callId = callIdOf({ ...event, ordinal })
        const call = { callId, name, input: input ?? text, arguments: text }
        calls.set(callId, { ...call, mayStart: at < callsLeft, isRunning: false })
      }
    }
    if (event.type === 'approval-pending')
      for (const { ordinal, id, name, rule, question } of event.calls) {
        const call = open({ ...event, ordinal })
        if (call === undefined) continue
        const { callId } = call
        const ofTool = question === null ? undefined : questionIn(question)
        const waiting = { kind: 'approval' as const, id, callId, name, rule, until: event.until }
        call.approval = { call: { ...waiting, ...(ofTool && { question: ofTool }) } }
      }
    if (event.type === 'approval-decided') {
      const call = open(event)
      if (call?.approval !== undefined) call.approval.decided = event
    }
    if (event.type === 'tool-started') {
      const call = open(event)
      if (call !== undefined) call.isRunning = true
    }
    if (event.type === 'call-offered') {
      const call = open(event)
      const id = callIdOf(event)
      const { name, until } = event
      if (call !== undefined) call.offer = { kind: 'client', id, callId: id, name, rule: '', until }
    }
    if (event.type === 'call-finished' || event.type === 'call-denied')
      calls.delete(callIdOf(event))
    if (event.type === 'turn-finished') calls.clear()
  }

  function open(place: CallPlace): OpenCall | undefined {
    return calls.get(callIdOf(place))
  }

  function paused(): WaitingCall[] {
    const all = [...calls.values()]
    // A running call may wait for the answer to its question.
    const isWaiting = ({ approval }: OpenCall) =>
      approval !== undefined && approval.decided === undefined
    if (all.some((call) => call.isRunning && !isWaiting(call))) return []
    const persons = all.filter(isWaiting).flatMap(({ approval }) => approval?.call ?? [])
    const offers = all.flatMap(({ offer }) => offer ?? [])
    const startsSoon = all.some(({ mayStart, offer }) => mayStart && offer === undefined)
    return persons.length === 0 && startsSoon ? [] : [...persons, ...offers]
  }

  return { see, open, all: () => [...calls.values()], paused }
}

/** Undefined: no id of a call. */
export function placeOfCall(callId: string): CallPlace | undefined {
  const [, turn, round, ordinal] = /^call-(\d{1,16})-(\d{1,9})-(\d{1,9})$/.exec(callId) ?? []
  if (ordinal === undefined) return undefined
  return { turn: Number(turn), round: Number(round), ordinal: Number(ordinal) }
}
