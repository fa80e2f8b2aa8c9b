// Reads the keys of the table `history`, which topology.ts writes.

import { jsonIn } from '../../lib/json/json-object.ts'
import type { ConversationId, RoundId, TurnId } from '../ids.ts'
import { titleKey } from '../topology.ts'

/** The conversation of a key of a title. Undefined: another key. */
export function titledConversation(key: string): ConversationId | undefined {
  const conversation = historyConversation(key)
  return conversation !== undefined && key === titleKey(conversation) ? conversation : undefined
}

export function historyPrefix(conversation: ConversationId): string {
  return `${JSON.stringify([conversation]).slice(0, -1)},`
}

/** The conversation of a key of the history. Undefined: not such a key. */
export function historyConversation(key: string): string | undefined {
  return partsOf(key)?.[0]
}

/** The turn of a key of the history. Undefined: a key of no entry. */
export function historyTurn(key: string): TurnId | undefined {
  const [conversation, turn] = partsOf(key) ?? []
  return conversation !== undefined && typeof turn === 'number' ? { conversation, turn } : undefined
}

/** The round of a key of the history. Undefined: a key of no entry. */
export function historyRound(key: string): RoundId | undefined {
  const of = historyTurn(key)
  const round = partsOf(key)?.[2]
  return of !== undefined && typeof round === 'number' ? { ...of, round } : undefined
}

function partsOf(key: string): [string, unknown, unknown] | undefined {
  const parts = jsonIn(key)
  return Array.isArray(parts) && parts.length === 3 && typeof parts[0] === 'string'
    ? (parts as [string, unknown, unknown])
    : undefined
}
