// One reader of a topic's partition for all clients in this process. Without it, each of a hundred
// clients would decode every record. It reads only while it has a listener.

import { decode, typeIn } from '../../shared/codec/codec.ts'
import type { Bus, Offset, StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Message, MessageType } from '../../shared/contract/messages.ts'

/** `id`: of a derived record. */
export type Received<M extends Message> = {
  id: string | undefined
  offset: Offset
  message: M
}

/** `from`: the listener gets all records from this offset on. */
export type Listening = { from: Offset; stop: () => void }

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

type Reading = { stop: AbortController; started: Promise<void> }

/** The listeners of a conversation, with the types that each receives. */
type Listeners<M extends Message> = Map<Listener<M>, ReadonlySet<MessageType>>

/** `types`: the types that listeners can receive; other records are skipped. */
export function createFeed<M extends Message>(
  bus: Bus,
  topic: string,
  partition: number,
  types: ReadonlySet<MessageType>,
): Feed<M> {
  const listeners = new Map<string, Listeners<M>>()
  let reading: Reading | undefined
  /** The offset behind the newest record that was read. */
  let next: Offset = 0

  function begin(): Reading {
    const stop = new AbortController()
    const begun: Reading = { stop, started: start(stop.signal) }
    return begun

    /** Reads from the log's end. */
    async function start(signal: AbortSignal): Promise<void> {
      const from = (await bus.ends(topic)).find((ends) => ends.partition === partition)?.end ?? 0
      next = from
      read(from, signal).catch((error: unknown) => {
        if (reading !== begun) return
        reading = undefined // the next listener tries again
        for (const listener of [...listeners.values()].flatMap((some) => [...some.keys()]))
          listener.onFailure(error)
      })
    }
  }

  async function read(from: number, signal: AbortSignal): Promise<void> {
    for await (const records of bus.follow({ topic, partition, from, signal }))
      for (const record of records) {
        next = record.offset + 1
        const some = listeners.get(record.key)
        if (some !== undefined) deliver(some, record)
      }
  }

  function deliver(some: Listeners<M>, { id, offset, value }: StoredRecord): void {
    if (value === null) return
    const type = typeIn(value) // most records have no receiver, and decoding costs most here
    const receivers =
      type === undefined
        ? [...some.keys()]
        : [...some].flatMap(([listener, types]) => (types.has(type) ? listener : []))
    if (receivers.length === 0) return
    try {
      const message = decode(value)
      if (isExpected(message))
        for (const listener of receivers) listener.onRecord({ id, offset, message })
    } catch (error) {
      for (const listener of receivers) listener.onFailure(error)
    }
  }

  function isExpected(message: Message): message is M {
    return types.has(message.type)
  }

  function remove(conversation: ConversationId, listener: Listener<M>): void {
    const some = listeners.get(conversation)
    if (some?.delete(listener) && some.size === 0) listeners.delete(conversation)
    if (listeners.size > 0) return
    reading?.stop.abort()
    reading = undefined
  }

  return {
    async listen(conversation, listener, ownTypes = types) {
      listeners.set(
        conversation,
        (listeners.get(conversation) ?? new Map()).set(listener, ownTypes),
      )
      reading ??= begin()
      try {
        await reading.started
      } catch (error) {
        remove(conversation, listener)
        throw error
      }
      return { from: next, stop: () => remove(conversation, listener) }
    },

    close() {
      listeners.clear()
      reading?.stop.abort()
      reading = undefined
    },
  }
}
