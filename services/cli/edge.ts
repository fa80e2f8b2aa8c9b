// The edge: what a client does. It writes a user's message into the conversation's inbox and reads activity until that message's turn is over.
// Nothing is decided here; whoever may write the inbox can be a client, in any language.

import type { Agent } from '../../shared/agents.ts'
import { partitionOf } from '../../shared/bus/partition.ts'
import type { Bus } from '../../shared/bus/port.ts'
import { decode } from '../../shared/codec.ts'
import type { CancelRequested, MessageOf, TurnFinished, UserMessage } from '../../shared/messages.ts'
import { toRecord } from '../../shared/runtime/record.ts'

export type Activity = MessageOf<
  'turn-started' | 'round-started' | 'call-rejected' | 'intervention-raised' | 'tool-started' | 'call-finished' | 'turn-finished'
>

export type Edge = { bus: Bus; topicPrefix: string; partitions: number }

export type Question = { agent: Agent; conversation: string; messageId: string; text: string }

/**
 * Sends a user's message and yields the activity of its conversation from then on, up to and including the `turn-finished` of this message.
 * Repeated records are left out. Ends without one when `signal` aborts; the turn goes on then.
 */
export async function* ask(edge: Edge, question: Question, signal: AbortSignal): AsyncGenerator<Activity> {
  const { bus, topicPrefix, partitions } = edge
  const { conversation, messageId } = question
  const partition = partitionOf(conversation, partitions)
  const topic = `${topicPrefix}activity`
  const from = (await bus.ends(topic)).find((ends) => ends.partition === partition)?.end ?? 0
  await send(edge, userMessage(question))
  const seen = new Set<string>()
  for await (const records of bus.follow({ topic, partition, from, signal })) {
    for (const record of records) {
      if (record.key !== conversation || record.value === null) continue
      if (record.id !== undefined && seen.has(record.id)) continue
      if (record.id !== undefined) seen.add(record.id)
      const activity = decode(record.value) as Activity
      yield activity
      if (activity.type === 'turn-finished' && activity.messageId === messageId) return
    }
  }
}

/** Like `ask`, for who wants the end only. Throws the signal's reason when it aborts before. */
export async function reply(edge: Edge, question: Question, signal: AbortSignal): Promise<TurnFinished> {
  for await (const activity of ask(edge, question, signal))
    if (activity.type === 'turn-finished' && activity.messageId === question.messageId) return activity
  throw signal.reason
}

/** Asks that a message's turn ends, or that the message leaves the queue. */
export function cancelMessage(edge: Edge, { conversation, messageId }: { conversation: string; messageId: string }): Promise<void> {
  return send(edge, { type: 'cancel-requested', conversation, messageId })
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

async function send({ bus, topicPrefix, partitions }: Edge, message: UserMessage | CancelRequested): Promise<void> {
  await bus.append([
    toRecord({ topic: `${topicPrefix}conversation-events`, partition: partitionOf(message.conversation, partitions), message }),
  ])
}
