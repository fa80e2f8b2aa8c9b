// The records of some conversations that a range of a topic has. Records of other types are not decoded.

import { batchesOf, type Range } from '../../shared/bus/range.ts'
import { decode, typeIn } from '../../shared/codec/codec.ts'
import type { Bus, Offset } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { MessageOf, MessageType } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

/** For a reader that waits for the end of a turn only. */
export const endOnly = new Set(['turn-finished'] as const)

type PastRecord<Type extends MessageType> = {
  id: string | undefined
  offset: Offset
  time: Milliseconds
  message: MessageOf<Type>
}

/** `of`: one conversation or several. In order, until `signal` aborts. Throws if a record cannot be decoded. */
export async function* pastRecords<Type extends MessageType>(
  bus: Pick<Bus, 'read'>,
  range: Range,
  of: ConversationId | ReadonlySet<ConversationId>,
  types: ReadonlySet<Type>,
  signal?: AbortSignal,
): AsyncGenerator<PastRecord<Type>, void> {
  const wanted: ReadonlySet<MessageType> = types
  const conversations = typeof of === 'string' ? new Set([of]) : of
  for await (const records of batchesOf(bus, { ...range, keys: [...conversations] }, signal))
    for (const { id, key, value, offset, time } of records) {
      if (value === null || !conversations.has(key)) continue
      const type = typeIn(value)
      if (type !== undefined && !wanted.has(type)) continue
      yield { id, offset, time, message: decode(value) as MessageOf<Type> }
    }
}
