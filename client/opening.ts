// The message that opened a turn, read from the log.

import { decode } from '../shared/codec/codec.ts'
import type { Bus } from '../shared/contract/bus.ts'
import type { MessageId } from '../shared/contract/ids.ts'
import type { AgentSettings } from '../shared/contract/messages.ts'

export type Place = { bus: Bus; topicPrefix: string; partition: number }

/** `time`: of the record that opened the turn. */
export type Opening = { messageId: MessageId; settings: AgentSettings; time: number }

/**
 * A turn's number is the offset of the record that opened it: the message, or the `carried` record
 * with the message first in its queue.
 */
export async function openingOf(
  { bus, topicPrefix, partition }: Place,
  turn: number,
): Promise<Opening | undefined> {
  const [record] = await bus.read({
    topic: `${topicPrefix}conversation-events`,
    partition,
    from: turn,
    to: turn + 1,
    limit: 1,
  })
  if (record === undefined || record.value === null) return undefined
  const opened = decode(record.value)
  const message =
    opened.type === 'user-message'
      ? opened
      : opened.type === 'carried'
        ? opened.state?.queue[0]
        : undefined
  return message && { messageId: message.messageId, settings: message.settings, time: record.time }
}
