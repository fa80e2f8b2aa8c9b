// The queue: messages that wait for their turn, and the ids that reveal a repeat by a client. Both
// are bounded (R7).
//
// CONVERSATION-QUEUE-1. A client reads exactly one turn-finished for each accepted message, also
//     after its removal from the queue.
// CONVERSATION-QUEUE-2. A refused id is not remembered, so a client can send it again. Each refusal
//     has its own turn-finished.

import { toolRef } from '../../shared/agents/agents.ts'
import type { MessageId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { QueuedMessage, UserMessage } from '../../shared/contract/messages.ts'
import { slowestTimeout } from '../../shared/contract/turn/tool-deadline.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'

/**
 * The part of a message that its turn needs: tools by reference, and the timeout of the slowest
 * one.
 */
export function queuedOf({
  messageId,
  text,
  agent,
  settings,
  declarations,
}: UserMessage): QueuedMessage {
  return {
    messageId,
    text,
    agent,
    settings,
    tools: declarations.map(toolRef),
    toolTimeoutMsMax: slowestTimeout(declarations),
  }
}

/** The reason why no further message can wait. Undefined: it can. */
export function queueRefusalOf(queue: QueuedMessage[], further: QueuedMessage): string | undefined {
  if (queue.length >= limits.queueMessagesMax) return reasons.queueFull
  const bytes = queue.reduce((sum, queued) => sum + bytesOf(queued), bytesOf(further))
  return bytes > limits.queueBytesMax ? reasons.queueHeavy : undefined
}

/** The size as JSON, which is never below the size of the record. */
function bytesOf(queued: QueuedMessage): number {
  return Buffer.byteLength(JSON.stringify(queued))
}

/** The ids with one more, oldest first. The oldest ones are forgotten. */
export function withId(recentMessageIds: string[], messageId: MessageId): string[] {
  return [...recentMessageIds, messageId].slice(-limits.recentMessageIdsMax)
}
