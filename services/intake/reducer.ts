// Intake: copies the messages of clients into the conversation's inbox, and the results of calls that
// clients ran into the executor's. Images, files, titles and the origins of forks go into the history. So a
// client needs no write access to the inbox of a stage or to the history, where it could forge the
// records of others.
// Reads: client-messages.
// Writes: user-message and cancel-requested to conversation-events, cancel-requested to guest-events,
// content-kept, conversation-forked and conversation-titled to history, result-sent to rounds-cleared.
// A cancel of a guest goes to guest-events (`topicOf`).
// Owns: the types of records that a client may write. A record of another type, or one that cannot be read, goes to
// dead-letters, as the runtime does it for every inbox.
// Does not own: whether a message opens a turn, its sizes, and how many may wait (conversation).
// Whether a result counts (executor).
// Whether the pieces of a content make its hash, and whether the origins of a fork are there (llm-gateway).
//
// Stateless. The copy has the id of its message in client-messages, so a message that is
// copied twice is applied once (R3), in the order of the client's writes.
// A piece that no content can have is dropped, so nothing of it stays in the history. So are
// a title that is too long and a fork with impossible origins, such as those of another tenant.

import { isPossiblePiece } from '../../shared/contract/call/contents.ts'
import { isPossibleFork } from '../../shared/contract/history/fork.ts'
import { isPossibleTitle } from '../../shared/contract/history/title.ts'
import type {
  CancelRequested,
  ContentSent,
  ForkRequested,
  ResultSent,
  TitleGiven,
  UserMessage,
  UserNamed,
} from '../../shared/contract/messages.ts'
import { type Reaction, type Stage, unreachable } from '../../shared/contract/stage.ts'

/** The records that a client may write. */
export type ClientMessage =
  | UserMessage
  | CancelRequested
  | ContentSent
  | ForkRequested
  | ResultSent
  | TitleGiven
  | UserNamed

export const intake: Stage<never, ClientMessage> = {
  name: 'intake',
  unit: () => '',
  due: () => undefined,
  wants: () => [],
  react: (_, { message }) => copied(message),
  // The client gets the fallback: the runtime's turn-failed follows the message (R8).
  failed: (_, { message }) => copied(message),
}

function copied(message: ClientMessage): Reaction<never> {
  switch (message.type) {
    case 'user-message':
    case 'cancel-requested':
      return { records: [{ to: 'conversation', message }] }
    case 'result-sent':
      return { records: [{ to: 'tools', message }] }
    case 'content-sent':
      return isPossiblePiece(message)
        ? { records: [{ to: 'history', message: { ...message, type: 'content-kept' } }] }
        : {}
    case 'fork-requested':
      return isPossibleFork(message)
        ? { records: [{ to: 'history', message: { ...message, type: 'conversation-forked' } }] }
        : {}
    case 'title-given':
      return isPossibleTitle(message.title)
        ? { records: [{ to: 'history', message: { ...message, type: 'conversation-titled' } }] }
        : {}
    case 'user-named':
      return {} // for readers of the log
    default:
      return unreachable(message)
  }
}
