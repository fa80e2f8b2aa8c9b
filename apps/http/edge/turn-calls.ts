// The calls of one turn: their ids for chat protocols, and whether the turn waits for persons only.
// Pure: the events of the turn go in, in order.
// TURN-CALLS-1. The turn is paused when a call waits for a person and no other call runs. The calls
//     of a round run after its last decision, and rules may make the other calls wait too.

import type { CallPlace, TurnEvent } from '../../../client/weir.ts'

type Event<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>

/** A call that waits for a person. `id`: of the approval. `callId`: see callIdOf. */
export type WaitingCall = {
  id: string
  callId: string
  name: string
  rule: string
  until: number
}

/** A call without its end. `input`: its arguments as a value, otherwise the text as sent. */
export type OpenCall = {
  callId: string
  name: string
  input: unknown
  isRunning: boolean
  approval?: { call: WaitingCall; decided?: Event<'approval-decided'> }
}

export type TurnCalls = {
  see(event: TurnEvent): void
  /** The open call at this place. Undefined: it is over, or unknown. */
  open(place: CallPlace): OpenCall | undefined
  /** All open calls. */
  all(): OpenCall[]
  /** The calls that wait for a decision, if the turn is paused. Empty: it is not. */
  paused(): WaitingCall[]
}

/** Unique in a conversation. The provider's ids are not: models reuse them. */
export function callIdOf({ turn, round, ordinal }: CallPlace): string {
  return `call-${turn}-${round}-${ordinal}`
}

export function createTurnCalls(): TurnCalls {
  const calls = new Map<string, OpenCall>()

  function see(event: TurnEvent): void {
    if (event.type === 'model-answered')
      for (const { ordinal, name, input, arguments: text } of event.calls) {
        const callId = callIdOf({ ...event, ordinal })
        calls.set(callId, { callId, name, input: input ?? text, isRunning: false })
      }
    if (event.type === 'approval-pending')
      for (const { ordinal, id, name, rule } of event.calls) {
        const call = open({ ...event, ordinal })
        if (call === undefined) continue
        const { callId } = call
        call.approval = { call: { id, callId, name, rule, until: event.until } }
      }
    if (event.type === 'approval-decided') {
      const call = open(event)
      if (call?.approval !== undefined) call.approval.decided = event
    }
    if (event.type === 'tool-started') {
      const call = open(event)
      if (call !== undefined) call.isRunning = true
    }
    if (event.type === 'call-finished' || event.type === 'call-rejected')
      calls.delete(callIdOf(event))
    if (event.type === 'turn-finished') calls.clear()
  }

  function open(place: CallPlace): OpenCall | undefined {
    return calls.get(callIdOf(place))
  }

  function paused(): WaitingCall[] {
    const all = [...calls.values()]
    if (all.some(({ isRunning }) => isRunning)) return []
    return all.flatMap(({ approval }) =>
      approval === undefined || approval.decided !== undefined ? [] : [approval.call],
    )
  }

  return { see, open, all: () => [...calls.values()], paused }
}
