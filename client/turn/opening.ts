// The message that opened a turn, read from the log.

import { messageOf } from '../../shared/codec/message-of.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { MessageId } from '../../shared/contract/ids.ts'
import type { AgentSettings } from '../../shared/contract/messages.ts'

export type Place = { bus: Bus; topicPrefix: string; partition: number }

/** `agent`, `text`: of the message. `time`: of the record that opened the turn. */
export type Opening = {
  messageId: MessageId
  agent: string
  text: string
  settings: AgentSettings
  time: number
}

/**
 * A turn's number is the offset of the record that opened it: the message, or the `carried` record
 * with the message first in its queue. Undefined: the record is gone or unreadable.
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
    bytesMax: 1,
  })
  const opened = messageOf(record?.value ?? null)
  const carried = opened?.type === 'carried' ? opened.state?.queue[0] : undefined
  const message = opened?.type === 'user-message' ? opened : carried
  if (record === undefined || message === undefined) return undefined
  const { messageId, agent, text, settings } = message
  return { messageId, agent, text, settings, time: record.time }
}
