// A fork: a conversation whose history begins with turns of others, which are shared and not copied.
// Its record in the history names these origins.
// A fork has the tenant and the partition of its origins. So one gateway has the whole
// history, and turns, which are offsets of one inbox, have one order over all of them.
// A reader has the whole beginning or none: each origin names the number of its entries.

import { WeirError } from '../../lib/errors.ts'
import { type ConversationId, conversationIdFault } from '../ids.ts'
import { limits } from '../limits.ts'
import type { ForkRequested, Message, Origin } from '../messages.ts'
import { tenantOf } from '../tenant.ts'
import { isGuest } from '../topology.ts'

/** Whether a fork can have these origins. Any client may have written them. */
export function isPossibleFork({ conversation, origins }: ForkRequested): boolean {
  const ids = [conversation, ...origins.map((origin) => origin.conversation)]
  return (
    origins.length > 0 &&
    origins.length <= limits.forkOriginsMax &&
    new Set(ids).size === ids.length &&
    ids.every((id) => conversationIdFault(id) === undefined && !isGuest(id)) &&
    ids.every((id) => tenantOf(id) === tenantOf(conversation)) &&
    origins.every(({ turn, entries }, at) => turn > (origins[at - 1]?.turn ?? -1) && entries > 0)
  )
}

/** The origins that the record under `originKey` names. Empty: the conversation is no fork. */
export function originsIn(message: Message | undefined): readonly Origin[] {
  return message?.type === 'conversation-forked' ? message.origins : []
}

/** The conversation of a turn in the history of a fork: one of its origins, or the fork. */
export function conversationOfTurn(
  fork: ConversationId,
  origins: readonly Origin[],
  turn: number,
): ConversationId {
  return origins.find((origin) => turn <= origin.turn)?.conversation ?? fork
}

/** The entries of an origin that belong to a fork. Throws `history.missing`. */
export function sharedEntries<Entry extends { turn: number }>(
  { conversation, turn, entries }: Origin,
  all: readonly Entry[],
): Entry[] {
  const shared = all.filter((entry) => entry.turn <= turn)
  if (shared.length >= entries) return shared
  throw new WeirError(
    'history.missing',
    `this conversation is a fork, and the log has only ${shared.length} of the ${entries} entries that it shares with ${JSON.stringify(conversation)}: that history was deleted. Begin a new conversation`,
  )
}
