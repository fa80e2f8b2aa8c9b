// Whether a log that deletes no single record still has a readable one of deleted conversations.
// UNREADABLE-1. Records of every topic count: a stage encrypts with the key of the tenant until it knows
//     the format of the fleet.
// UNREADABLE-2. A topic that this process may not read counts as readable.

import { conversationIn } from '../../shared/bus/encryption/encryption.ts'
import { batchesOf, noneIfMissing } from '../../shared/bus/range.ts'
import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import { contentHash, isEvidence } from '../../shared/contract/audit/link.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { guardTopicName, topicSpecs } from '../../shared/contract/topology.ts'
import { registeredGuardNames } from '../../shared/runtime/guards/guard-registry.ts'
import { isUnauthorized } from '../place/fleet.ts'
import { type ForgetLog, isRemainder } from './rest.ts'

/** Call it after the deletion of their keys. */
export async function hasReadable(
  log: ForgetLog,
  conversations: ReadonlySet<ConversationId>,
): Promise<boolean> {
  const { bus, topicPrefix } = log
  try {
    const ofGuards = (await registeredGuardNames(log)).map(guardTopicName)
    const names = topicSpecs('', 1).map(({ name }) => name)
    for (const name of [...names, ...ofGuards]) {
      const topic = topicPrefix + name
      for (const { partition, begin: from, end: to } of await bus.ends(topic).catch(noneIfMissing))
        for await (const records of batchesOf(bus, { topic, partition, from, to }))
          for (const record of records) {
            const conversation = conversationIn(name, record.key)
            const isOne = conversation !== undefined && conversations.has(conversation)
            if (isOne && isReadable(record)) return true
          }
    }
    return false
  } catch (error) {
    if (isUnauthorized(error)) return true
    throw error
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
