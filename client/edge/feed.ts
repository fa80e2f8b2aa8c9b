// The messages of a topic's partition for all clients in this process. A record is decoded only for a
// listener of its conversation and its type, because decoding costs most here.

import { decode, typeIn } from '../../shared/codec/codec.ts'
import type { Bus, Offset } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Message, MessageType } from '../../shared/contract/messages.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createPartitionReader, type Listening } from './partition-reader.ts'

/** `id`: of a derived record. */
export type Received<M extends Message> = {
  id: string | undefined
  offset: Offset
  message: M
}

/** `onFailure`: no further record will come. */
export type Listener<M extends Message> = {
  onRecord: (received: Received<M>) => void
  onFailure: (error: unknown) => void
}

export type Feed<M extends Message> = {
  /**
   * Calls `onRecord` for each record of the conversation from now on, until `stop` is called.
   * `types`: the types to receive; default: all.
   */
  listen(
    conversation: ConversationId,
    listener: Listener<M>,
    types?: ReadonlySet<MessageType>,
  ): Promise<Listening>
  close(): void
}

/** `types`: the types that listeners can receive; other records are skipped. */
export function createFeed<M extends Message>(
  bus: Pick<Bus, 'ends' | 'follow'>,
  topic: string,
  partition: number,
  types: ReadonlySet<MessageType>,
): Feed<M> {
  const { listen, close } = createPartitionReader(bus, topic, partition)
  return {
    close,
    listen: (conversation, { onRecord, onFailure }, ownTypes = types) =>
      listen(conversation, {
        onFailure,
        onRecord({ id, offset, value }) {
          if (value === null) return
          const type = typeIn(value)
          if (type !== undefined && !ownTypes.has(type)) return
          try {
            onRecord({ id, offset, message: decode(value) as M })
          } catch (error) {
            if (!isOfUnknownSchema(error)) onFailure(error)
          }
        },
      }),
  }
}

/** A newer Weir may write such a record. No decision depends on records that clients read. */
function isOfUnknownSchema(error: unknown): boolean {
  return (
    error instanceof WeirError &&
    (error.code === 'codec.unknown-schema' || error.code === 'codec.newer-schema')
  )
}
