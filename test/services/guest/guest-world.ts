// A guest with the stages that judge it, in memory: guest, validator, loop-detector, executor and
// approval. Records are encoded and stand in a log, as on a bus. The test plays the front.

import { approval } from '../../../services/approval/reducer.ts'
import { executor } from '../../../services/executor/reducer.ts'
import { guest } from '../../../services/guest/reducer.ts'
import { loopDetector } from '../../../services/loop-detector/reducer.ts'
import { validator } from '../../../services/validator/reducer.ts'
import { codec, decode } from '../../../shared/codec/codec.ts'
import type {
  GuestAdvice,
  GuestResults,
  GuestRound,
  Message,
  MessageOf,
  MessageType,
} from '../../../shared/contract/messages.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import { createPlayer } from '../../../shared/runtime/in-memory.ts'

export type GuestWorld = {
  /** Writes a record of a front and returns all that follows from it, in order. */
  write(message: GuestRound | GuestResults): Promise<Message[]>
  /** Writes a record that another writer observes. */
  append(topic: TopicName, message: Message, time?: number): Promise<Message[]>
  /** The answer to a request. */
  adviceOn(message: GuestResults): Promise<GuestAdvice | undefined>
  /** All records of a topic. */
  logOf(topic: TopicName): Message[]
  /** The tasks of executors in this conversation. */
  tasks(conversation: string): unknown[]
}

export function openGuestWorld(): GuestWorld {
  const player = createPlayer({ codec })
  player.add(guest)
  player.add(validator)
  player.add(loopDetector)
  const running = player.add(executor)
  player.add(approval)
  const append: GuestWorld['append'] = async (topic, message, time) => {
    player.append(topic, message, time === undefined ? {} : { time })
    return (await player.settle()).map((output) => output.message)
  }
  const write: GuestWorld['write'] = (message) => append('guest-events', message)
  return {
    append,
    write,
    adviceOn: async (message) =>
      of(await write(message), 'guest-advice').find(
        ({ requestId }) => requestId === message.requestId,
      ),
    logOf: (topic) =>
      player.records.flatMap((record) =>
        record.topic === topic && record.value !== null ? [decode(record.value)] : [],
      ),
    tasks: (conversation) => running.tasks(conversation),
  }
}

/** The messages of a type, in order. */
export function of<T extends MessageType>(messages: Message[], type: T): MessageOf<T>[] {
  return messages.filter((message): message is MessageOf<T> => message.type === type)
}
