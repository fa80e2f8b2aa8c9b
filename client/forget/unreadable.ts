// Whether a log that deletes no single record still has a readable one of deleted conversations.
// Records of every topic count: a stage encrypts with the key of the tenant until it knows
// the format of the fleet.
// A topic that this process may not read counts as readable.
// The topics of removed guards count. Brokers list them to a user who may see them, and `policies` names
// the last removed ones.

import { conversationRecords } from '../../shared/bus/encryption/conversation-records.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { contentHash, isEvidence } from '../../shared/contract/audit/link.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import {
  guardKeyPrefix,
  guardTopicName,
  nameWithoutPrefix,
} from '../../shared/contract/topology.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import { registeredGuardNames } from '../../shared/runtime/guards/guard-registry.ts'
import { removedSettings } from '../../shared/runtime/settings/removed-settings.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { isUnauthorized } from '../place/fleet.ts'
import { type ForgetLog, isRemainder } from './rest.ts'

/** `listGuardTopics`: without the prefix, also those of removed guards. */
export type TopicsLog = ForgetLog & { listGuardTopics(): Promise<readonly string[]> }

/** Call it after the deletion of their keys. */
export async function hasReadable(
  log: TopicsLog,
  conversations: ReadonlySet<ConversationId>,
): Promise<boolean> {
  try {
    const asked = { ...log, topics: await topicsOfConversations(log) }
    for await (const { conversation, record } of conversationRecords(asked))
      if (conversations.has(conversation) && isReadable(record)) return true
    return false
  } catch (error) {
    if (isUnauthorized(error)) return true
    throw error
  }
}

/** The names of all topics, also those of guards, without the prefix. */
export async function topicsOfConversations(log: TopicsLog): Promise<string[]> {
  const removed = (await removedSettings(log))
    .filter(({ setting }) => setting.startsWith(guardKeyPrefix))
    .map(({ setting }) => setting.slice(guardKeyPrefix.length))
  const ofGuards = [...(await registeredGuardNames(log)), ...removed].map(guardTopicName)
  const all = topicSpecs('', 1).map(({ name }) => name)
  return [...new Set([...all, ...ofGuards, ...(await log.listGuardTopics())])]
}

/** As TopicsLog has it. A data folder lists no topics, and each of its deletions deletes records. */
export function guardTopicsOf(settings: Settings): TopicsLog['listGuardTopics'] {
  return async () => {
    const kind = busKindOf(settings)
    if (kind.isLocal) return []
    const { topicPrefix } = settings
    const groups = await kind.groups(settings, createLog({ level: 'silent' }))
    const { topics } = await groups.names(topicPrefix + guardTopicName(''))
    return topics.flatMap((topic) => nameWithoutPrefix(topic, topicPrefix) ?? [])
  }
}

/** A record under a key of its conversation is unreadable now, or newer than the deletion. */
function isReadable(record: StoredRecord): boolean {
  const { value, conversationKey } = record
  if (value === null || conversationKey !== undefined || isRemainder(record)) return false
  if (typeIn(value) === 'conversation-forgotten') return false
  const message = messageOf(value)
  return !isEvidence(message) || contentHash(message) !== undefined
}
