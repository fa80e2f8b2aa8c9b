// The conversations of clients that name none and resend their history: found by the history.
// A history that this process does not know begins a new conversation, with the
// history as instructions. So a restart loses no answer, only the link to the old conversation.

import { hash } from 'node:crypto'
import { limits } from '../../../../shared/contract/limits.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import type { Principal } from '../access/principal.ts'
import type { Resent } from './chat-request.ts'

export type KnownHistories = {
  /** The conversation, as the principal names it, whose history is this one. */
  find(principal: Principal, history: readonly Resent[]): string | undefined
  /** `history`: all messages of the conversation, the last answer included. */
  keep(principal: Principal, history: readonly Resent[], conversation: string): void
}

export function createKnownHistories(): KnownHistories {
  const known = newest<string>(limits.edgeMessagesMax)
  const keyOf = ({ id }: Principal, history: readonly Resent[]): string => {
    const texts = history.map(({ role, text }) => [role, text.trim()])
    return hash('sha256', JSON.stringify([id, texts]))
  }
  return {
    find: (principal, history) =>
      history.length === 0 ? undefined : known.get(keyOf(principal, history)),
    keep: (principal, history, conversation) => known.set(keyOf(principal, history), conversation),
  }
}
