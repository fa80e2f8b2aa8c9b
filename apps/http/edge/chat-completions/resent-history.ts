// Compares the history that a client resends with the turns of its conversation.
// RESENT-HISTORY-1. The log's history counts, and the resent one is never added to it. A turn without
//     an answer may be missing, because clients drop failed messages.

import type { ConversationTurn } from '../../../../client/weir.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Resent } from './chat-request.ts'

/**
 * `turns`: the newest first. An answer of the client ends with the reply: it may have the text of
 * earlier rounds in front. Older turns than `limits.recentMessageIdsMax` are not compared.
 */
export function isSameHistory(
  history: readonly Resent[],
  turns: readonly ConversationTurn[],
): boolean {
  let left = history.length
  for (const { text, end } of turns) {
    const last = history[left - 1]
    const answer = last?.role === 'assistant' ? last : undefined
    const question = history[left - (answer === undefined ? 1 : 2)]
    const isAnswered = end?.outcome === 'answered'
    const isSame =
      question?.role === 'user' &&
      plain(question.text) === plain(text) &&
      (!isAnswered || (answer !== undefined && plain(answer.text).endsWith(plain(end.reply))))
    if (isSame) left -= answer === undefined ? 1 : 2
    else if (isAnswered) return false
  }
  return left === 0 || turns.length >= limits.recentMessageIdsMax
}

/** Clients change blanks when they show and store a message. */
function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** The history as instructions, for a conversation that begins with it. Empty: there is none. */
export function transcriptOf(history: readonly Resent[]): string {
  if (history.length === 0) return ''
  const lines = history.map(({ role, text }) => `<${role}>\n${text}\n</${role}>`)
  return `Earlier messages of this conversation:\n\n${lines.join('\n\n')}`
}
