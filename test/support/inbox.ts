// A foreign client: it may write anything into an inbox, in any form, and it watches the activity
// of a conversation.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Activity } from '../../client/edge/edge.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Appended } from '../../shared/contract/bus.ts'
import type { Message, TurnFinished, UserMessage } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { keyOf, type TopicName } from '../../shared/contract/topology.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import type { Pipeline } from './pipeline.ts'
import { idleWaitMaxMs, patience, waitMaxMs } from './wait-limit.ts'

/** A message as the edge would write it, with the fields of a test. */
export function userMessage(agent: Agent, fields: Partial<UserMessage>): UserMessage {
  return {
    type: 'user-message',
    conversation: 'c',
    messageId: fields.text ?? 'm',
    text: 'hello',
    agent: agent.name,
    settings: agent.settings,
    declarations: agent.tools.map((tool) => tool.declaration),
    ...fields,
  }
}

/**
 * Writes messages into an inbox, all at once, each to the partition of its conversation.
 */
export function put(
  { wiring: { bus, topicPrefix, partitions } }: Pipeline,
  messages: Message[],
  topic: TopicName = 'conversation-events',
): Promise<Appended[]> {
  return bus.append(
    messages.map((message) =>
      toRecord({
        topic: topicPrefix + topic,
        partition: partitionOf(keyOf(message), partitions),
        message,
      }),
    ),
  )
}

/** Writes bytes that need not be a message. `id`: as if a reducer had written them. */
export function putBytes(
  { wiring: { bus, topicPrefix } }: Pipeline,
  topic: TopicName,
  value: Uint8Array,
  { key = 'c', id }: { key?: string; id?: string } = {},
): Promise<Appended[]> {
  return bus.append([{ topic: topicPrefix + topic, partition: 0, key, value, id }])
}

/** All activity of a conversation so far, without repeats, once `isEnough` accepts it. */
export async function activityUntil(
  { wiring: { bus, topicPrefix, partitions }, failed }: Pipeline,
  conversation: string,
  isEnough: (activity: Activity[]) => boolean,
): Promise<Activity[]> {
  const seen = new Map<string, Activity>()
  const follow = async () => {
    const range = {
      topic: `${topicPrefix}activity`,
      partition: partitionOf(conversation, partitions),
      from: 0,
    }
    for await (const records of bus.follow({ ...range, signal: AbortSignal.timeout(waitMaxMs) })) {
      for (const { key, id, partition, offset, value } of records)
        if (key === conversation && value !== null)
          seen.set(id ?? `${partition}/${offset}`, decode(value) as Activity)
      if (isEnough([...seen.values()])) return [...seen.values()]
    }
    throw new Error(
      `this did not come: ${isEnough}; activity so far: ${JSON.stringify([...seen.values()])}`,
    )
  }
  return Promise.race([follow(), failed])
}

export function endsOf(activity: Activity[]): TurnFinished[] {
  return activity.filter((one) => one.type === 'turn-finished')
}

/** The turn-finished records of these messages, in the order of the log. */
export async function endsOfMessages(
  pipeline: Pipeline,
  conversation: string,
  messageIds: string[],
): Promise<TurnFinished[]> {
  const endsAmong = (activity: Activity[]) =>
    endsOf(activity).filter(({ messageId }) => messageIds.includes(messageId))
  return endsAmong(
    await activityUntil(
      pipeline,
      conversation,
      (activity) => endsAmong(activity).length >= messageIds.length,
    ),
  )
}

/**
 * Polls until the condition is true. The pauses grow with the wait, because most conditions cost the
 * awaited process a request. `what` names the condition in the error. `maxMs`: on an idle machine.
 */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what = `${isSo}`,
  maxMs = idleWaitMaxMs,
): Promise<void> {
  const begun = performance.now()
  while (!(await isSo())) {
    const waitedMs = performance.now() - begun
    if (waitedMs > Math.max(waitMaxMs, maxMs * patience()))
      throw new Error(`this did not come true: ${what}`)
    await sleep(Math.min(Math.max(5, waitedMs / 10), 100))
  }
}
