// A message as the record of an observer: no id, no mark (R3).

import { encode } from '../codec/codec.ts'
import type { RecordToAppend } from '../contract/bus.ts'
import { turnOfMessage } from '../contract/ids.ts'
import type { Message } from '../contract/messages.ts'
import { keyOf } from '../contract/topology.ts'

/**
 * `topic`: with the deployment's prefix. Throws `codec.bad-message` when the message does not fit
 * its schema.
 */
export function toRecord({
  topic,
  partition,
  message,
}: {
  topic: string
  partition: number
  message: Message
}): RecordToAppend {
  const value = encode(message)
  return { topic, partition, key: keyOf(message), value, turn: turnOfMessage(message) }
}
