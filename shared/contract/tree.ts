// The tree of a conversation: the conversations whose calls led to it, up to the root. The id of a
// native child has its callers. The front of a guest records the place that its host names.

import {
  type ConversationId,
  callOfConversation,
  isConversationOfCall,
  withCallers,
} from './ids.ts'
import type { Parent } from './messages.ts'

/** A conversation, and its recorded place. `parent` null: the id alone has the place. */
export type Placed = { conversation: ConversationId; parent: Parent | null }

/** The conversation and its known callers, the root last. */
export function lineOf({ conversation, parent }: Placed): ConversationId[] {
  const callers = withCallers(conversation)
  if (parent === null) return callers
  const named = [parent.conversation, parent.root].flatMap((id) => id ?? [])
  return [...new Set([...callers, ...named])]
}

/** The conversation at the root of the tree, as far as it is known. */
export function treeOf(placed: Placed): ConversationId {
  return lineOf(placed).at(-1) ?? placed.conversation
}

/** The conversation that began this one. Null: it is a root. Undefined: it is not known. */
export function parentOf({ conversation, parent }: Placed): ConversationId | null | undefined {
  if (parent !== null) return parent.conversation ?? undefined
  const caller = callOfConversation(conversation)?.conversation
  return caller ?? (isConversationOfCall(conversation) ? undefined : null)
}
