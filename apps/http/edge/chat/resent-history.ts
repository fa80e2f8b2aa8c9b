// The history that a chat client sends again with each message, compared with the log. Pure.
// The log is the truth. Texts of a resent history are compared, and never added to it.
// A turn without an answer may be missing, because clients drop failed messages.

import type { ConversationTurn } from '../../../../client/weir.ts'
import { HttpError } from '../../http-error.ts'

/** A message of the user, and the client's text of its answer. Undefined: it sends none. */
export type Exchange = { text: string; answer?: string }

/**
 * Whether `sent`, oldest first, contradicts `turns`, the newest first. A client may send the newest
 * part only, or nothing. It may have messages that the log does not have: some were refused, or are
 * older than the log. It may not lack a later one, or have another text in its place. An answer of
 * the client ends with the reply: it may have the text of earlier rounds in front.
 */
export function isFork(
  sent: readonly Exchange[],
  turns: readonly Pick<ConversationTurn, 'text' | 'end'>[],
): boolean {
  let at = sent.length
  for (const turn of turns) {
    if ((turn.end?.outcome ?? 'answered') !== 'answered') continue
    const before = at
    do at -= 1
    while (at >= 0 && !isSame(sent[at], turn))
    if (at < 0) return before > 0
  }
  return false
}

/** `reason`: a clause. */
export function forkError(reason: string): HttpError {
  return new HttpError(
    409,
    'conversation.fork',
    `${reason}: send the next message of the conversation, or begin a new one with another id`,
  )
}

function isSame(
  exchange: Exchange | undefined,
  { text, end }: Pick<ConversationTurn, 'text' | 'end'>,
): boolean {
  if (exchange === undefined || !isSameText(exchange, { text })) return false
  const { answer } = exchange
  return answer === undefined || end === undefined || plain(answer).endsWith(plain(end.reply))
}

/** Whether the message of the user is the same. */
export function isSameText(
  exchange: Pick<Exchange, 'text'>,
  { text }: Pick<ConversationTurn, 'text'>,
): boolean {
  return plain(exchange.text) === plain(text)
}

/** Clients change blanks when they show and store a message. */
function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}
