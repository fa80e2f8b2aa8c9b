// Finds agents in a log by the messages to them, and guests by their rounds: the policy that such a
// record carries, and the names of other agents. The policy is that of the agent's file, without an
// operator's values. Finds tenants by the ids of conversations, and tools by the offers of requests.

import { newestRecords, type ReadableTopics } from '../../client/history/newest-records.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { tenantOf } from '../../shared/contract/tenant.ts'
import { isGuest, type TopicName } from '../../shared/contract/topology.ts'
import { treeOf } from '../../shared/contract/tree.ts'
import { matchesPattern } from '../../shared/runtime/guards/tool-pattern.ts'
import type { OwnPolicy } from './effective.ts'

/**
 * Records of the inbox to look through, newest first. An agent that was idle for so long is unknown,
 * so no command reads a whole log for one name.
 */
const recordsMax = 100_000

/**
 * `own`: of the newest record of the agent; undefined: there is none. `others`: names of agents with
 * newer records. `isWhole`: the whole log was looked through.
 */
export type AgentInLog = {
  own: (OwnPolicy & { from: 'log' }) | undefined
  others: string[]
  isWhole: boolean
}

export async function agentInLog(agent: string, log: ReadableTopics): Promise<AgentInLog> {
  const asked = await agentInTopic(agent, 'conversation-events', log)
  if (asked.own !== undefined) return asked
  const guest = await agentInTopic(agent, 'guest-events', log)
  return {
    own: guest.own,
    others: [...new Set([...asked.others, ...guest.others])],
    isWhole: asked.isWhole && guest.isWhole,
  }
}

/** As AgentInLog. `others`: other names, if the name is unknown. */
export type NameInLog = { isKnown: boolean; others: string[]; isWhole: boolean }

/** Guests belong to the default tenant. */
export function tenantInLog(tenant: string, log: ReadableTopics): Promise<NameInLog> {
  return nameInTopics(log, ['conversation-events'], {
    names: ({ key }) => [tenantOf(key)],
    isMeant: (name) => name === tenant,
  })
}

export function conversationInLog(conversation: string, log: ReadableTopics): Promise<NameInLog> {
  return nameInTopics(log, ['conversation-events', 'guest-events'], {
    names: ({ key }) => [key],
    isMeant: (name) => name === conversation,
  })
}

/** The root of the conversation's tree. A guest's root is in its newest records. */
export async function rootInLog(
  conversation: ConversationId,
  log: ReadableTopics,
): Promise<ConversationId> {
  let read = 0
  if (isGuest(conversation))
    for await (const { key, value } of newestRecords(log, 'guest-events')) {
      read += 1
      if (read > recordsMax) break
      const message = key === conversation ? messageOf(value) : undefined
      if (message?.type === 'guest-round' || message?.type === 'guest-results')
        return treeOf({ conversation, parent: message.policy.parent })
    }
  return treeOf({ conversation, parent: null })
}

/** Whether a request offered a tool that the pattern matches. */
export function toolInLog(pattern: string, log: ReadableTopics): Promise<NameInLog> {
  return nameInTopics(log, ['model-deltas', 'guest-events'], {
    names({ value }) {
      const message = messageOf(value)
      const hasOffer = message?.type === 'model-opened' || message?.type === 'guest-round'
      return hasOffer ? message.offered : []
    },
    isMeant: (name) => matchesPattern(pattern, name),
  })
}

/** `names`: of a record. At most `recordsMax` records of each topic are read, newest first. */
async function nameInTopics(
  log: ReadableTopics,
  topics: readonly TopicName[],
  {
    names,
    isMeant,
  }: { names(record: StoredRecord): readonly string[]; isMeant(name: string): boolean },
): Promise<NameInLog> {
  const others = new Set<string>()
  let isWhole = true
  for (const topic of topics) {
    let read = 0
    for await (const record of newestRecords(log, topic)) {
      for (const name of names(record)) {
        if (isMeant(name)) return { isKnown: true, others: [], isWhole: false }
        others.add(name)
      }
      read += 1
      if (read < recordsMax) continue
      isWhole = false
      break
    }
  }
  return { isKnown: false, others: [...others], isWhole }
}

async function agentInTopic(
  agent: string,
  topic: 'conversation-events' | 'guest-events',
  log: ReadableTopics,
): Promise<AgentInLog> {
  const others = new Set<string>()
  let read = 0
  for await (const { value, time } of newestRecords(log, topic)) {
    const message = messageOf(value)
    if (message?.type === 'user-message' || message?.type === 'guest-round') {
      const { policy } = message.settings
      if (message.agent === agent)
        return {
          own: { from: 'log', at: time, policy },
          others: [...others],
          isWhole: false,
        }
      others.add(message.agent)
    }
    read += 1
    if (read >= recordsMax) return { own: undefined, others: [...others], isWhole: false }
  }
  return { own: undefined, others: [...others], isWhole: true }
}
