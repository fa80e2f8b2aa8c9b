// The link of fronts on a bus. They read activity with one reader for each partition, opened before the
// first write and kept. Writes: guest-round, guest-results and guest-claim to guest-events.

import type { Logger } from 'pino'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { writeObservation } from '../../../shared/runtime/observation.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { createFeed, type Feed } from '../../edge/feed.ts'
import {
  activityTypes,
  type FrontLink,
  type GuestActivity,
  openTurns,
  refuseTooMany,
} from '../inbox.ts'

/** One for all fronts of a process, because it decodes the records of all guests. */
export type Activity = Pick<FrontLink, 'listen' | 'turns'> & { close(): void }

type Place = { bus: Bus; topicPrefix: string; partitions: number }

export function openActivity({ bus, topicPrefix, partitions }: Place): Activity {
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
    turns: openTurns(bus.clock),

    async listen(conversation, { onMessage, onFailure }) {
      refuseTooMany(listening)
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

export function linkOn(
  { bus, topicPrefix, partitions }: Place,
  { activity, log }: { activity: Activity; log: Logger },
): FrontLink {
  const topic = `${topicPrefix}guest-events`
  return {
    clock: bus.clock,
    listen: activity.listen,
    turns: activity.turns,
    async write(messages) {
      const records = messages.map((message) =>
        toRecord({ topic, partition: partitionOf(message.conversation, partitions), message }),
      )
      await writeObservation(bus, records, log)
    },
  }
}
