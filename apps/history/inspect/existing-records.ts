// The records of a conversation. If there is none, the error offers similar ids.

import { newestIds } from '../../../client/history/newest-records.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import { printable } from '../../terminal/text/printable.ts'
import { listingCommand } from '../conversations/listing-command.ts'
import type { OpenLog } from '../open-log.ts'
import { recordsOf } from './recorded.ts'

/**
 * The number of newest ids to compare with a misspelt one. A typing error must not read the whole
 * log.
 */
const idsLookedThrough = 1_000
const idsOffered = 3

/** As recordsOf, but never empty. Throws `conversation.unknown`. */
export async function existingRecords(
  conversation: ConversationId,
  log: OpenLog,
): Promise<Logged[]> {
  const records = await recordsOf(conversation, log)
  if (records.length === 0) throw await unknown(conversation, log)
  return records
}

async function unknown(conversation: ConversationId, log: OpenLog): Promise<WeirError> {
  const ids = await newestIds(log, idsLookedThrough)
  if (ids.includes(conversation))
    return new WeirError(
      'conversation.unknown',
      `the conversation ${printable(conversation)} has only its activity left: its other records were deleted`,
    )
  const near = nearestOf(conversation, ids)
  const offered = near.length > 0 ? near : ids.slice(0, idsOffered)
  const list = offered.map((id) => printable(id)).join(', ')
  const fault = `there is no conversation ${printable(conversation)}`
  if (ids.length === 0)
    return new WeirError('conversation.unknown', `${fault}, and the log has no other one either`)
  return new WeirError(
    'conversation.unknown',
    near.length > 0
      ? `${fault}; did you mean ${list}?`
      : `${fault}; the newest are ${list} (${listingCommand(log.bundle?.file)} lists more)`,
  )
}

function nearestOf(conversation: ConversationId, ids: string[]): string[] {
  const near: string[] = []
  while (near.length < idsOffered) {
    const next = nearestName(
      conversation,
      ids.filter((id) => !near.includes(id)),
    )
    if (next === undefined) break
    near.push(next)
  }
  return near
}
