// The edge: a client of the stages. It writes a user's messages to client-messages and reads the
// activity of their turns. It decides nothing. A program in any language that may write
// client-messages and read activity can be a client.

import type { ClientMessage } from '../../services/intake/reducer.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { refuseWithoutSpace } from '../../shared/bus/space.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus, Offset } from '../../shared/contract/bus.ts'
import { piecesOf, type WholeContent } from '../../shared/contract/call/contents.ts'
import type { ConversationId, SentMessage } from '../../shared/contract/ids.ts'
import type {
  ForkRequested,
  MessageOf,
  MessageType,
  Part,
  ResultSent,
  TitleGiven,
  UserMessage,
} from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { wholeCall } from '../conversation/history.ts'
import { type EarlierAnswer, findEarlierAnswer } from '../turn/earlier-answer.ts'
import type { CallPlace, WholeCall } from '../turn/turn-event.ts'
import { createFeed, type Feed, type Listener, type Received } from './feed.ts'
import type { Listening } from './partition-reader.ts'
import { pastRecords } from './past-records.ts'

const activityTypes = [
  'turn-started',
  'round-started',
  'model-retry',
  'model-waiting',
  'budget-reached',
  'model-answered',
  'call-denied',
  'intervention-raised',
  'calls-waiting',
  'guard-verdict-given',
  'approval-pending',
  'approval-decided',
  'tool-started',
  'call-offered',
  'call-finished',
  'turn-finished',
] as const

const activitySet = new Set(activityTypes)

/** The records of a stream: its parts, and its end. */
export type Streamed = Part | MessageOf<'model-finished'>

export const streamedSet = new Set(['part', 'model-finished'] as const)

export type Activity = MessageOf<(typeof activityTypes)[number]>

/**
 * `messageId`: the client's own id; the same id again in the same conversation is the same message
 * and changes nothing.
 */
export type Question = SentMessage & {
  agent: Agent
  text: string
  /** The bytes of the contents that the agent's settings name. */
  contents?: readonly WholeContent[]
  /** The user who asks, by the program's id of them. */
  user?: string | undefined
}

export type Edge = {
  /** Writes a user's message. Listeners receive its activity. */
  send(question: Question): Promise<void>
  /**
   * Requests the end of a message's turn, or the removal of the message from the queue. The turn's
   * activity shows the effect.
   */
  cancel(message: SentMessage): Promise<void>
  /** Writes the result of a call that the client ran. */
  sendResult(result: ResultSent): Promise<void>
  fork(request: ForkRequested): Promise<void>
  /** Gives a conversation a title. */
  title(given: TitleGiven): Promise<void>
  /**
   * Delivers the activity of a conversation from now on, until `stop` is called. A record may come
   * twice. `types`: only these; default: all.
   */
  onActivity(
    conversation: ConversationId,
    listener: Listener<Activity>,
    types?: ReadonlySet<MessageType>,
  ): Promise<Listening>
  /**
   * Delivers the parts that models stream in a conversation, and the end of each stream. They are read
   * only meanwhile.
   */
  onParts(conversation: ConversationId, listener: Listener<Streamed>): Promise<Listening>
  /** Reads the activity of a conversation from one offset of its partition to another. */
  readActivity(
    conversation: ConversationId,
    range: { from: Offset; to: Offset },
  ): AsyncGenerator<Received<Activity>, void>
  /** The turn of a message that was sent before. Undefined: it opened none. */
  earlierAnswer(message: SentMessage): Promise<EarlierAnswer | undefined>
  /** The whole texts of a call. */
  wholeCall(conversation: ConversationId, place: CallPlace): Promise<WholeCall | undefined>
  /** Ends all listening. The bus stays open. */
  close(): void
}

type Log = { bus: Bus; topicPrefix: string; partitions: number }

/** A client of the stages that run with the same topic prefix and partition count. */
export function openEdge(log: Log): Edge {
  const { bus, topicPrefix, partitions } = log
  const activity = createFeeds<Activity>(log, 'activity', activitySet)
  const parts = createFeeds<Streamed>(log, 'model-deltas', streamedSet)

  /** The images and files go ahead of their message, each piece as one record. */
  async function sendQuestion(question: Question): Promise<void> {
    const { conversation, contents = [], user } = question
    refuseWithoutSpace(bus)
    for (const content of contents)
      for (const piece of piecesOf(content))
        await send({ type: 'content-sent', conversation, ...piece })
    if (user !== undefined) await send({ type: 'user-named', conversation, user })
    await send(userMessage(question))
  }

  async function send(message: ClientMessage): Promise<void> {
    await bus.append([
      toRecord({
        topic: `${topicPrefix}client-messages`,
        partition: partitionOf(message.conversation, partitions),
        message,
      }),
    ])
  }

  return {
    send: sendQuestion,
    cancel: ({ conversation, messageId }) =>
      send({ type: 'cancel-requested', conversation, messageId }),
    sendResult: send,
    fork: send,
    title: send,
    onActivity: (conversation, listener, types) =>
      activity.of(conversation).listen(conversation, listener, types),
    onParts: (conversation, listener) => parts.of(conversation).listen(conversation, listener),
    readActivity(conversation, range) {
      const place = {
        topic: `${topicPrefix}activity`,
        partition: partitionOf(conversation, partitions),
      }
      return pastRecords(bus, { ...place, ...range }, conversation, activitySet)
    },
    wholeCall: (conversation, place) =>
      wholeCall(
        { bus, topicPrefix, partition: partitionOf(conversation, partitions) },
        conversation,
        place,
      ),
    earlierAnswer: (message) =>
      findEarlierAnswer(
        { bus, topicPrefix, partition: partitionOf(message.conversation, partitions) },
        message,
      ),

    close() {
      activity.close()
      parts.close()
    },
  }
}

/** One feed for each partition with a listener. */
function createFeeds<M extends Activity | Streamed>(
  { bus, topicPrefix, partitions }: Log,
  topic: 'activity' | 'model-deltas',
  types: ReadonlySet<MessageType>,
) {
  const feeds = new Map<number, Feed<M>>()
  return {
    of(conversation: ConversationId): Feed<M> {
      const partition = partitionOf(conversation, partitions)
      const feed = feeds.get(partition) ?? createFeed(bus, topicPrefix + topic, partition, types)
      feeds.set(partition, feed)
      return feed
    },
    close() {
      for (const feed of feeds.values()) feed.close()
    },
  }
}

function userMessage({ agent, conversation, messageId, text }: Question): UserMessage {
  return {
    type: 'user-message',
    conversation,
    messageId,
    text,
    agent: agent.name,
    settings: agent.settings,
    declarations: agent.tools.map((tool) => tool.declaration),
  }
}

/** Undefined: it is no activity of a turn of this version. Throws if it cannot be decoded. */
export function activityIn(value: Uint8Array): Activity | undefined {
  const message = decode(value)
  const types: ReadonlySet<MessageType> = activitySet
  return types.has(message.type) ? (message as Activity) : undefined
}
