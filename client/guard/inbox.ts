// The link between a front and the stages, on a bus or in memory, and the messages that wait for a call
// of the front.
// A client may invent conversations. Above `limits.guestTurnsOpenMax` the turn used least recently
// makes room, and none with a request that waits. So no client fills the memory or ends a waiting turn.

import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  GuestClaim,
  GuestResults,
  GuestRound,
  MessageOf,
} from '../../shared/contract/messages.ts'
import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'

export const activityTypes = [
  'guest-advice',
  'guest-claimed',
  'guest-verdicts',
  'round-started',
  'approval-pending',
] as const

export type GuestActivity = MessageOf<(typeof activityTypes)[number]>

/** A record that a front writes. */
export type FrontRecord = GuestRound | GuestResults | GuestClaim

export type GuestListener = {
  onMessage: (message: GuestActivity) => void
  /** No further message comes. */
  onFailure: (error: unknown) => void
}

export type FrontLink = {
  clock: Clock
  /**
   * Delivers the activity of a guest's conversation from now on, until the returned function is
   * called. Rejects with `guests.full` above `limits.guestsOpenMax` listeners.
   */
  listen(conversation: ConversationId, listener: GuestListener): Promise<() => void>
  /** Resolves when all are written. */
  write(messages: FrontRecord[]): Promise<void>
  /** The conversations of this process with a turn. All its fronts share them. */
  turns: OpenTurns
}

export type OpenTurns = {
  /** For a request. `end`: ends its turn. Call the returned function once the request has its answer. */
  use(conversation: ConversationId, end: () => Promise<void>): () => void
  /** Its turn has ended. */
  leave(conversation: ConversationId): void
}

export function openTurns(clock: Pick<Clock, 'monotonic'>): OpenTurns {
  type Turn = { end: () => Promise<void>; usedAt: Milliseconds; waiting: number }
  const turns = new Map<string, Turn>()

  function makeRoom(now: Milliseconds): void {
    for (const [conversation, { end, usedAt, waiting }] of turns) {
      if (waiting > 0) continue
      turns.delete(conversation)
      // After this time the stage has ended the turn.
      if (now - usedAt <= limits.guestIdleMs) end().catch(() => {}) // the stage ends it later
      return
    }
  }

  return {
    use(conversation, end) {
      const usedAt = clock.monotonic()
      const turn = Object.assign(turns.get(conversation) ?? { waiting: 0 }, { end, usedAt })
      turn.waiting += 1
      turns.delete(conversation)
      turns.set(conversation, turn)
      if (turns.size > limits.guestTurnsOpenMax) makeRoom(usedAt)
      return () => {
        turn.waiting -= 1
      }
    },
    leave: (conversation) => void turns.delete(conversation),
  }
}

/** Throws if no further call of a front can wait. */
export function refuseTooMany(listening: number): void {
  if (listening >= limits.guestsOpenMax)
    throw new WeirError(
      'guests.full',
      `${listening} requests of guests wait for an answer, which is the limit: try again, or run more processes`,
      { retryable: true },
    )
}

/** The messages that no call of `next` has returned yet. */
export type Inbox = {
  /**
   * Undefined: none came until this monotonic time. Rejects with the reason of `signal`, and when no
   * further message can come.
   */
  next(until: Milliseconds, signal?: AbortSignal): Promise<GuestActivity | undefined>
  close(): void
}

export async function openInbox(
  { listen, clock }: Pick<FrontLink, 'listen' | 'clock'>,
  conversation: ConversationId,
): Promise<Inbox> {
  const waiting: GuestActivity[] = []
  let failure: { error: unknown } | undefined
  let wake = (): void => {}
  const close = await listen(conversation, {
    onMessage(message) {
      waiting.push(message)
      wake()
    },
    onFailure(error) {
      failure = { error }
      wake()
    },
  })

  return {
    async next(until, signal) {
      for (;;) {
        signal?.throwIfAborted()
        const first = waiting.shift()
        if (first !== undefined) return first
        if (failure !== undefined) throw failure.error
        const leftMs = until - clock.monotonic()
        if (leftMs <= 0) return undefined
        await new Promise<void>((resolve) => {
          const cancel = clock.after(leftMs, () => wake())
          wake = () => {
            cancel()
            signal?.removeEventListener('abort', wake)
            resolve()
          }
          signal?.addEventListener('abort', wake, { once: true })
        })
      }
    },
    close,
  }
}
