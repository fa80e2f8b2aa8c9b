// The conversation in which an agent works on a call: always the same, so a second start of the call
// asks the same question.

import { hash } from 'node:crypto'
import { type CallId, type ConversationId, callKey, ofCalls } from '../ids.ts'
import { limits } from '../limits.ts'
import { partitionOf } from '../partition.ts'
import { defaultTenant, tenantOf } from '../tenant.ts'

/** In the partition of the caller, so one guard reads the rounds of both. */
export function calledConversation(call: CallId, partitions: number): ConversationId {
  const stem = idOf(call)
  const partition = partitionOf(call.conversation, partitions)
  for (let nth = 0; ; nth += 1) {
    const id = nth === 0 ? stem : `${stem}~${nth}`
    if (partitionOf(id, partitions) === partition) return id
  }
}

/** The same for a call of a round in format 1. A long id is a hash. */
export function formerConversation(call: CallId): ConversationId {
  const id = idOf(call)
  if (Buffer.byteLength(id) <= limits.conversationIdBytesMax) return id
  const tenant = tenantOf(call.conversation)
  const digest = hash('sha256', callKey(call))
  return tenant === defaultTenant ? `${ofCalls}${digest}` : `${ofCalls}${tenant}:${digest}`
}

function idOf({ conversation, turn, round, ordinal }: CallId): ConversationId {
  return `${ofCalls}${conversation}/${turn}/${round}/${ordinal}`
}
