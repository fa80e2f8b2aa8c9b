// The edge: a client of the stages. It writes a user's message to client-messages and reads activity
// until that message's turn is over. It decides nothing. A program in any language that may write
// client-messages and read activity can be a client.

import type { Agent } from '../shared/agents/agents.ts'
import { refuseWithoutSpace } from '../shared/bus/space.ts'
import type { Bus } from '../shared/contract/bus.ts'
import type { ConversationId, SentMessage } from '../shared/contract/ids.ts'
import type {
  AttemptFailed,
  CancelRequested,
  MessageOf,
  MessageType,
  Part,
  TurnFinished,
  UserMessage,
} from '../shared/contract/messages.ts'
import { partitionOf } from '../shared/contract/partition.ts'
import { toRecord } from '../shared/runtime/record.ts'
import { findEarlierAnswer } from './earlier-answer.ts'
import { createFeed, type Feed, type Listener, type Received } from './feed.ts'

const activityTypes = [
  'turn-started',
  'round-started',
  'call-rejected',
  'intervention-raised',
  'calls-waiting',
  'guard-verdict-given',
  'approval-pending',
  'approval-decided',
  'tool-started',
  'call-finished',
  'turn-finished',
] as const

const endOnly: ReadonlySet<MessageType> = new Set(['turn-finished'])

export type Activity = MessageOf<(typeof activityTypes)[number]>

/**
 * `messageId`: the client's own id; the same id again in the same conversation is the same message
 * and changes nothing.
 */
export type Question = SentMessage & { agent: Agent; text: string }

export type Edge = {
  /**
   * Sends a user's message and yields the activity of its conversation, up to and including the
   * `turn-finished` of this message. Repeated records are skipped. When `signal` aborts, it throws
   * the signal's reason, and the turn continues.
   */
  ask(question: Question, signal?: AbortSignal): AsyncGenerator<Activity, void>
  /** Like `ask`, but resolves to the end of the turn. */
  reply(question: Question, signal?: AbortSignal): Promise<TurnFinished>
  /** Writes a user's message. Listeners receive its activity. */
  send(question: Question): Promise<void>
  /**
   * Requests the end of a message's turn, or the removal of the message from the queue. The turn's
   * activity shows the effect.
   */
  cancel(message: SentMessage): Promise<void>
  /**
   * Delivers the activity of a conversation from now on, until the returned function is called. A
   * record may come twice.
   */
  onActivity(conversation: ConversationId, listener: Listener<Activity>): Promise<() => void>
  /** Delivers the parts that models stream in a conversation. They are read only meanwhile. */
  onParts(conversation: ConversationId, listener: Listener<Part>): Promise<() => void>
  /** Delivers the failed attempts of a conversation's requests to models. */
  onFailedAttempts(
    conversation: ConversationId,
    listener: Listener<AttemptFailed>,
  ): Promise<() => void>
  /**
   * The end of the turn of a message that was sent before. Undefined: the turn is not over, or the
   * message is unknown.
   */
  earlierAnswer(message: SentMessage): Promise<TurnFinished | undefined>
  /** Ends all listening. The bus stays open. */
  close(): void
}

/** A client of the stages that run with the same topic prefix and partition count. */
export function openEdge({
  bus,
  topicPrefix,
  partitions,
}: {
  bus: Bus
  topicPrefix: string
  partitions: number
}): Edge {
  const activity = createFeeds<Activity>('activity', new Set(activityTypes))
  const parts = createFeeds<Part>('model-deltas', new Set(['part'] as const))
  const failed = createFeeds<AttemptFailed>('model-requests', new Set(['attempt-failed'] as const))

  async function* ask(question: Question, signal?: AbortSignal): AsyncGenerator<Activity, void> {
    const { conversation, messageId } = question
    const mailbox = createMailbox(signal)
    const stop = await activity.of(conversation).listen(conversation, mailbox)
    try {
      await send(userMessage(question))
      const seen = new Set<string>()
      for (;;) {
        const { id, message } = await mailbox.next()
        if (id !== undefined && seen.has(id)) continue
        if (id !== undefined) seen.add(id)
        yield message
        if (message.type === 'turn-finished' && message.messageId === messageId) return
      }
    } finally {
      stop()
    }
  }

  /** One feed for each partition with a listener. */
  function createFeeds<M extends Activity | Part | AttemptFailed>(
    topic: 'activity' | 'model-deltas' | 'model-requests',
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

  async function send(message: UserMessage | CancelRequested): Promise<void> {
    if (message.type === 'user-message') refuseWithoutSpace(bus)
    await bus.append([
      toRecord({
        topic: `${topicPrefix}client-messages`,
        partition: partitionOf(message.conversation, partitions),
        message,
      }),
    ])
  }

  return {
    ask,

    async reply(question, signal) {
      const { conversation, messageId } = question
      const mailbox = createMailbox(signal)
      const stop = await activity.of(conversation).listen(conversation, mailbox, endOnly)
      try {
        await send(userMessage(question))
        for (;;) {
          const { message } = await mailbox.next()
          if (message.type === 'turn-finished' && message.messageId === messageId) return message
        }
      } finally {
        stop()
      }
    },

    send: (question) => send(userMessage(question)),
    cancel: ({ conversation, messageId }) =>
      send({ type: 'cancel-requested', conversation, messageId }),
    onActivity: (conversation, listener) =>
      activity.of(conversation).listen(conversation, listener),
    onParts: (conversation, listener) => parts.of(conversation).listen(conversation, listener),
    onFailedAttempts: (conversation, listener) =>
      failed.of(conversation).listen(conversation, listener),
    earlierAnswer: (message) =>
      findEarlierAnswer(
        { bus, topicPrefix, partition: partitionOf(message.conversation, partitions) },
        message,
      ),

    close() {
      activity.close()
      parts.close()
      failed.close()
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

/** The records that no call of `next` has returned yet. At the end `next` throws its reason. */
function createMailbox(signal: AbortSignal | undefined) {
  const waiting: Received<Activity>[] = []
  let wake = (): void => {}
  let ended: { error: unknown } | undefined
  const end = (error: unknown): void => {
    ended ??= { error }
    wake()
  }
  signal?.addEventListener('abort', () => end(signal.reason), { once: true })
  if (signal?.aborted) end(signal.reason)

  return {
    onRecord(received: Received<Activity>): void {
      waiting.push(received)
      wake()
    },
    onFailure: end,
    async next(): Promise<Received<Activity>> {
      for (;;) {
        const first = waiting.shift()
        if (first !== undefined) return first
        if (ended !== undefined) throw ended.error
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
