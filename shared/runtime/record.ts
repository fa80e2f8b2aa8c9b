// A message as the record of an observer: no id, no mark (R3), in the format in force.

import { encodeInForce } from '../codec/codec.ts'
import type { RecordToAppend } from '../contract/bus.ts'
import { turnOfMessage } from '../contract/ids.ts'
import type { Message } from '../contract/messages.ts'
import { keyOf } from '../contract/topology.ts'

/**
 * `topic`: with the deployment's prefix. Throws `codec.bad-message` when the message does not fit
 * its schema, and `codec.newer-schema` while a format without its type is in force.
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
  const value = encodeInForce(message)
  return { topic, partition, key: keyOf(message), value, turn: turnOfMessage(message) }
}
