// The activity of guests, as their fronts read it: advice, verdicts, and the numbers of rounds. One
// reader for each partition, opened before the first write and kept.

import type { Bus } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { MessageOf } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createFeed, type Feed } from '../edge/feed.ts'

const activityTypes = [
  'guest-advice',
  'guest-verdicts',
  'round-started',
  'approval-pending',
] as const

export type GuestActivity = MessageOf<(typeof activityTypes)[number]>

export type GuestListener = {
  onMessage: (message: GuestActivity) => void
  /** No further message comes. */
  onFailure: (error: unknown) => void
}

export type Activity = {
  /**
   * Delivers the activity of a guest's conversation from now on, until the returned function is
   * called. Rejects with `guests.full` above `limits.guestsOpenMax` listeners.
   */
  listen(conversation: ConversationId, listener: GuestListener): Promise<() => void>
  close(): void
}

export function openActivity({
  bus,
  topicPrefix,
  partitions,
}: {
  bus: Bus
  topicPrefix: string
  partitions: number
}): Activity {
  const feeds = new Map<number, Promise<Feed<GuestActivity>>>()
  let listening = 0

  /** A listener without records keeps the reader open: opening one costs a request to the broker. */
  async function open(partition: number): Promise<Feed<GuestActivity>> {
    const feed = createFeed<GuestActivity>(
      bus,
      `${topicPrefix}activity`,
      partition,
      new Set(activityTypes),
    )
    await feed.listen('', { onRecord: () => {}, onFailure: () => feeds.delete(partition) })
    return feed
  }

  function feedOf(conversation: ConversationId): Promise<Feed<GuestActivity>> {
    const partition = partitionOf(conversation, partitions)
    const known = feeds.get(partition)
    if (known !== undefined) return known
    const opened = open(partition)
    feeds.set(partition, opened)
    opened.catch(() => feeds.delete(partition)) // the next listener tries again
    return opened
  }

  return {
    async listen(conversation, { onMessage, onFailure }) {
      if (listening >= limits.guestsOpenMax)
        throw new WeirError(
          'guests.full',
          `${listening} requests of guests wait for an answer, which is the limit: try again, or run more processes`,
          { retryable: true },
        )
      listening += 1
      let isOpen = true
      try {
        const feed = await feedOf(conversation)
        const { stop } = await feed.listen(conversation, {
          onRecord: ({ message }) => onMessage(message),
          onFailure,
        })
        return () => {
          if (!isOpen) return
          isOpen = false
          listening -= 1
          stop()
        }
      } catch (error) {
        listening -= 1
        throw error
      }
    },

    close() {
      for (const feed of feeds.values())
        feed.then(
          (opened) => opened.close(),
          () => {},
        )
      feeds.clear()
    },
  }
}

/** The messages that no call of `next` has returned yet. */
export type Inbox = {
  /**
   * Undefined: none came in time. Rejects with the reason of `signal`, and when no further message
   * can come.
   */
  next(waitMs: Milliseconds, signal?: AbortSignal): Promise<GuestActivity | undefined>
  close(): void
}

export async function openInbox(
  activity: Activity,
  conversation: ConversationId,
  clock: Clock,
): Promise<Inbox> {
  const waiting: GuestActivity[] = []
  let failure: { error: unknown } | undefined
  let wake = (): void => {}
  const close = await activity.listen(conversation, {
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
    async next(waitMs, signal) {
      const until = clock.monotonic() + waitMs
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
