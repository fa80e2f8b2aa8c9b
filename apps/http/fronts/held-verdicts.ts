// The verdicts on an answer whose calls are held one by one: in hooks of a host, in the gateway.
// A call that may run does not wait for a person who decides its neighbour.
// The stops are looked at again whenever a front takes an `allow`, because the verdict may
// be minutes old.

import type {
  AnyGuestAnswer,
  CallVerdict,
  GuestConversation,
} from '../../../client/guard/guest-conversation.ts'
import type { GuestThread } from '../../../client/guard/guest-thread.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

/** `index`: the place of a call in the answer. Both reject if Weir cannot judge the answer. */
export type HeldVerdicts = {
  /** Resolves once the call is decided, or waits for a known person. Undefined: nobody decided in time. */
  first(index: number): Promise<CallVerdict | undefined>
  /** Resolves once the call is decided. Undefined: nobody decided in time. */
  last(index: number): Promise<CallVerdict | undefined>
}

/** A conversation whose verdicts a stop of an operator can overtake. Without `verdictNow` no stop can come. */
export type HeldConversation = GuestConversation & Partial<Pick<GuestThread, 'verdictNow'>>

/** Each look writes a record, and takes twice as long as the one before. */
const firstLookMs = 250
const lookMaxMs = 8_000

/**
 * Asks for the verdicts at once, and goes on while a call is awaited. `answer` resolves when its calls
 * are known. `personsMs`: the longest wait for persons; default: until their questions expire. All
 * other waits end after limits.guestHoldMs.
 */
export function heldVerdicts(
  conversation: HeldConversation,
  answer: AnyGuestAnswer | Promise<AnyGuestAnswer>,
  personsMs: Milliseconds = Number.POSITIVE_INFINITY,
): HeldVerdicts {
  let verdicts: readonly CallVerdict[] = []
  let isOver = false
  let waitedMs = 0
  let waitMs: Milliseconds = firstLookMs
  let asksForPersons = false
  let looking: Promise<void> | undefined
  nextLook().catch(() => {}) // each call that waits gets the error

  /** All calls that wait share a look. */
  function nextLook(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function look(): Promise<void> {
    verdicts = await conversation.afterModel(await answer, { waitMs })
    waitedMs += waitMs
    const waiting = verdicts.filter(({ verdict }) => verdict === 'pending')
    const isForPersons = waiting.every(({ approval }) => approval !== undefined)
    const leftMs = (isForPersons ? personsMs : limits.guestHoldMs) - waitedMs
    isOver = waiting.length === 0 || leftMs <= 0
    const isAlone = waiting.length === 1 && (isForPersons || !asksForPersons)
    waitMs = Math.min(leftMs, isAlone ? limits.guestHoldMs : Math.min(2 * waitMs, lookMaxMs))
  }

  async function until(
    index: number,
    isKnown: (verdict: CallVerdict) => boolean,
  ): Promise<CallVerdict | undefined> {
    for (;;) {
      const verdict = verdicts[index]
      if (verdict !== undefined && isKnown(verdict)) return verdictNow(conversation, verdict)
      if (isOver) return undefined
      await nextLook()
    }
  }

  return {
    first(index) {
      asksForPersons = true
      return until(
        index,
        ({ verdict, approval }) => verdict !== 'pending' || approval !== undefined,
      )
    },
    last: (index) => until(index, ({ verdict }) => verdict !== 'pending'),
  }
}

/** Rejects if the stops cannot be read. */
export async function verdictNow(
  conversation: Pick<HeldConversation, 'verdictNow'> | undefined,
  verdict: CallVerdict,
): Promise<CallVerdict> {
  return (await conversation?.verdictNow?.(verdict)) ?? verdict
}

/**
 * The strictest verdict on the calls at these places, for a host that cannot tell them apart.
 * Undefined: nobody has decided one of them in time, and none is denied.
 */
export async function strictestOf(
  verdicts: Pick<HeldVerdicts, 'last'>,
  places: readonly number[],
): Promise<CallVerdict | undefined> {
  const all = await Promise.all(places.map((place) => verdicts.last(place)))
  const denied = all.find((one) => one?.verdict === 'deny')
  return denied ?? (all.includes(undefined) ? undefined : all[0])
}

/**
 * The verdict, for all who look before it is there. From then on `given` has the places: a later look is
 * one for another call.
 */
export async function givenOnce(
  { verdicts, given }: { verdicts: Pick<HeldVerdicts, 'last'>; given: Set<number> },
  places: readonly number[],
): Promise<CallVerdict | undefined> {
  const verdict = await strictestOf(verdicts, places)
  for (const place of places) given.add(place)
  return verdict
}
