// Whether a log that deletes no single record still has a readable one of deleted conversations.
// Records of every topic count: a stage encrypts with the key of the tenant until it knows
// the format of the fleet.
// A topic that this process may not read counts as readable.

import { conversationRecords } from '../../shared/bus/encryption/conversation-records.ts'
import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { contentHash, isEvidence } from '../../shared/contract/audit/link.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { guardTopicName } from '../../shared/contract/topology.ts'
import { registeredGuardNames } from '../../shared/runtime/guards/guard-registry.ts'
import { isUnauthorized } from '../place/fleet.ts'
import { type ForgetLog, isRemainder } from './rest.ts'

/** Call it after the deletion of their keys. */
export async function hasReadable(
  log: ForgetLog,
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
export async function topicsOfConversations(log: ForgetLog): Promise<string[]> {
  const ofGuards = (await registeredGuardNames(log)).map(guardTopicName)
  return [...topicSpecs('', 1).map(({ name }) => name), ...ofGuards]
}

/** A record under a key of its conversation is unreadable now, or newer than the deletion. */
function isReadable(record: StoredRecord): boolean {
  const { value, conversationKey } = record
  if (value === null || conversationKey !== undefined || isRemainder(record)) return false
  if (typeIn(value) === 'conversation-forgotten') return false
  const message = messageOf(value)
  return !isEvidence(message) || contentHash(message) !== undefined
}
