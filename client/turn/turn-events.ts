// The activity of a conversation as the events of one turn. Pure: records in, events out.
// Other turns give no events, except once that this turn waits for them.
// turn-finished is the last event. If the turn was ended from outside, it waits for
// the calls that were running. The other events have the order of event-fold.ts.

import { callInTurn, type MessageId } from '../../shared/contract/ids.ts'
import type { Part, TurnFinished } from '../../shared/contract/messages.ts'
import type { Activity } from '../edge/edge.ts'
import type { Received } from '../edge/feed.ts'
import { createEventFold } from './event-fold.ts'
import { type TurnEvent, turnEventVersion } from './turn-event.ts'

export type TurnEvents = {
  /** The end of the turn, once it is known. */
  readonly finished: TurnFinished | undefined
  /** No further event will come. */
  readonly isOver: boolean
  activity(received: Received<Activity>): TurnEvent[]
  part(part: Part): TurnEvent[]
  /** Ends the turn without waiting for running calls. */
  endNow(): TurnEvent[]
}

/** The events of the turn that this message opens. */
export function createTurnEvents(messageId: MessageId): TurnEvents {
  const fold = createEventFold()
  const running = new Set<string>()
  let turn: number | undefined
  let isWaiting = false
  let finished: TurnFinished | undefined
  let isOver = false

  function activity(received: Received<Activity>): TurnEvent[] {
    if (isOver) return []
    return fold.activity(received).flatMap(ofTurn)
  }

  function ofTurn(event: TurnEvent): TurnEvent[] {
    const isOwn = 'messageId' in event && event.messageId === messageId
    if (event.type === 'turn-started' && isOwn) turn = event.turn
    if (event.type === 'turn-finished' && isOwn) {
      finished ??= event
      return endIfDone()
    }
    if (event.type === 'turn-waiting' || turn === undefined) return wait(event)
    if (event.turn !== turn || event.type === 'turn-finished') return []
    if (event.type === 'tool-started' || event.type === 'call-offered')
      running.add(callInTurn(event))
    if (event.type !== 'call-finished') return [event]
    running.delete(callInTurn(event))
    return [event, ...endIfDone()]
  }

  /** The end of another turn is no reason to wait: a refused message finishes too. */
  function wait({ type, conversation, position }: TurnEvent): TurnEvent[] {
    const isText = type === 'text-delta' || type === 'reasoning-delta' || type === 'text-reset'
    if (isWaiting || type === 'turn-finished' || isText) return []
    isWaiting = true
    return [{ v: turnEventVersion, position, type: 'turn-waiting', conversation }]
  }

  function endIfDone(): TurnEvent[] {
    return running.size === 0 ? endNow() : []
  }

  function endNow(): TurnEvent[] {
    if (finished === undefined || isOver) return []
    isOver = true
    return [{ v: turnEventVersion, position: fold.position, ...finished }]
  }

  return {
    get finished() {
      return finished
    },
    get isOver() {
      return isOver
    },
    activity,
    part: (part) => (finished === undefined ? fold.part(part).flatMap(ofTurn) : []),
    endNow,
  }
}
