// One reader of a topic's partition for all clients in this process: each hears of its own
// conversation. Without it, a hundred waiting clients would read and decode every record a hundred
// times. It reads only while somebody listens.

import { decode, typeIn } from '../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../shared/contract/bus.ts'
import type { Message, MessageType } from '../shared/contract/messages.ts'

/** A record as it is heard: its id, if it is a derived one, and what it says. */
export type Heard<M extends Message> = { id: string | undefined; message: M }

/** `failed`: nothing more will come. */
export type Listener<M extends Message> = {
  hear: (heard: Heard<M>) => void
  failed: (error: unknown) => void
}

export type Feed<M extends Message> = {
  /**
   * Calls `hear` for each record of the conversation from now on, until the returned function is
   * called. `types`: what it wants of it; default: all.
   */
  listen(
    conversation: string,
    listener: Listener<M>,
    types?: ReadonlySet<MessageType>,
  ): Promise<() => void>
  close(): void
}

type Reading = { stop: AbortController; started: Promise<void> }

/** The listeners of a conversation, and what each wants. */
type Listeners<M extends Message> = Map<Listener<M>, ReadonlySet<MessageType>>

/** `types`: what is heard of the topic; the rest of it is skipped. */
export function createFeed<M extends Message>(
  bus: Bus,
  topic: string,
  partition: number,
  types: ReadonlySet<MessageType>,
): Feed<M> {
  const listeners = new Map<string, Listeners<M>>()
  let reading: Reading | undefined

  function begin(): Reading {
    const stop = new AbortController()
    const begun: Reading = { stop, started: start(stop.signal) }
    return begun

    /** Reads from the log's end. */
    async function start(signal: AbortSignal): Promise<void> {
      const from = (await bus.ends(topic)).find((ends) => ends.partition === partition)?.end ?? 0
      read(from, signal).catch((error: unknown) => {
        if (reading !== begun) return
        reading = undefined // whoever listens next tries again
        for (const listener of [...listeners.values()].flatMap((some) => [...some.keys()]))
          listener.failed(error)
      })
    }
  }

  async function read(from: number, signal: AbortSignal): Promise<void> {
    for await (const records of bus.follow({ topic, partition, from, signal }))
      for (const record of records) {
        const some = listeners.get(record.key)
        if (some !== undefined) tell(some, record)
      }
  }

  function tell(some: Listeners<M>, { id, value }: StoredRecord): void {
    if (value === null) return
    const type = typeIn(value) // most of it is for nobody, and to decode it costs more than all else here
    const wanting =
      type === undefined
        ? [...some.keys()]
        : [...some].flatMap(([listener, wanted]) => (wanted.has(type) ? listener : []))
    if (wanting.length === 0) return
    try {
      const message = decode(value)
      if (isWanted(message)) for (const listener of wanting) listener.hear({ id, message })
    } catch (error) {
      for (const listener of wanting) listener.failed(error)
    }
  }

  function isWanted(message: Message): message is M {
    return types.has(message.type)
  }

  function forget(conversation: string, listener: Listener<M>): void {
    const some = listeners.get(conversation)
    if (some?.delete(listener) && some.size === 0) listeners.delete(conversation)
    if (listeners.size > 0) return
    reading?.stop.abort()
    reading = undefined
  }

  return {
    async listen(conversation, listener, wanted = types) {
      listeners.set(conversation, (listeners.get(conversation) ?? new Map()).set(listener, wanted))
      reading ??= begin()
      try {
        await reading.started
      } catch (error) {
        forget(conversation, listener)
        throw error
      }
      return () => forget(conversation, listener)
    },

    close() {
      listeners.clear()
      reading?.stop.abort()
      reading = undefined
    },
  }
}
