// How long a fetch waits at its broker for the first record: so long that an idle process sends few, and
// the requests to one broker end together.

import type { Milliseconds } from '../../../lib/clock.ts'
import type { Node } from '../driver.ts'

/** Requests of an idle process wait until a common end, which is at most so far away. */
const idleWaitMs = 5_000

/**
 * Where half of the requests to a broker are in flight, the others wait only so long. A cursor waits at most so
 * long if all requests are in flight.
 */
const busyWaitMs = 500

/** How long the first request that ended waits for the others. */
const gatherMs = 8

export type FetchWaits = {
  /** Of the next request to the broker, next to so many in flight. */
  waitMs(node: Node, inFlight: number): Milliseconds
  /** When the cursors of a response without records are requested again, next to so many in flight. */
  nextAt(node: Node, inFlight: number): Milliseconds
}

/** The common end of the requests to one broker, and the end of their gathering after it. */
type Round = { endsAt: Milliseconds; gatherUntil: Milliseconds }

export function createFetchWaits(requestsMax: number, monotonic: () => Milliseconds): FetchWaits {
  const rounds = new Map<number, Round>()

  function roundOf({ id }: Node): Round {
    const round = rounds.get(id) ?? { endsAt: 0, gatherUntil: 0 }
    rounds.set(id, round)
    return round
  }

  return {
    waitMs(node, inFlight) {
      const now = monotonic()
      const round = roundOf(node)
      if (round.endsAt <= now) round.endsAt = now + idleWaitMs
      const leftMs = Math.ceil(round.endsAt - now)
      return inFlight < requestsMax / 2 ? leftMs : Math.min(leftMs, busyWaitMs)
    },

    nextAt(node, inFlight) {
      const now = monotonic()
      const round = roundOf(node)
      if (round.gatherUntil > now) return round.gatherUntil
      if (now < round.endsAt || inFlight === 0) return now
      round.gatherUntil = now + gatherMs
      return round.gatherUntil
    },
  }
}
