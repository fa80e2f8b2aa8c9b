// The order of two topics at a live reader: the parts of a response come before the activity that
// reports it. Without this order, reasoning that is written together with a call arrives too late.
// Held activity waits for the end of a stream that the reader follows. That end is in
// the log before the response is reported, so it comes.

import type { Message } from '../../shared/contract/messages.ts'

export type Round = { turn: number; round: number }

export type PartsFirst<Received extends { message: Message }> = {
  /** The activity to apply now. Empty: it is held. */
  activity(received: Received): Received[]
  /** The stream of the round is complete. Returns the activity that it held. */
  complete(round: Round): Received[]
}

/**
 * `begun`: a round that the reader follows already. It follows the stream of each round that begins
 * from now on.
 */
export function createPartsFirst<Received extends { message: Message }>(
  begun?: Round,
): PartsFirst<Received> {
  let followed = begun
  /** The newest round whose stream is complete: its parts may be ahead of the activity. */
  let newest: Round | undefined
  let held: Received[] = []
  let isHolding = false

  function activity(received: Received): Received[] {
    const { message } = received
    if (!isHolding && message.type === 'round-started' && !isComplete(message)) followed = message
    isHolding ||= message.type === 'model-answered' && isSame(followed, message)
    if (!isHolding) return [received]
    held.push(received)
    return []
  }

  function isComplete({ turn, round }: Round): boolean {
    if (newest === undefined) return false
    return turn < newest.turn || (turn === newest.turn && round <= newest.round)
  }

  return {
    activity,
    complete(round) {
      newest = round
      if (!isSame(followed, round)) return []
      followed = undefined
      const released = held
      held = []
      isHolding = false
      const [first, ...others] = released
      return first === undefined ? [] : [first, ...others.flatMap(activity)]
    },
  }
}

function isSame(one: Round | undefined, { turn, round }: Round): boolean {
  return one?.turn === turn && one.round === round
}
