// The contexts of this process's questions, for the tools that it runs. They stay in memory. Only a
// question with `record` has its context in the log too.
// CONTEXTS-1. A tool gets the context of the message that opened its turn, or none. The log knows
//     that message.

import type { Context, ContextOf } from '../services/executor/tools/checked-start.ts'
import { type SentMessage, type TurnId, turnKey } from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import type { Opening } from './opening.ts'

export type Contexts = {
  of: ContextOf
  /** Keeps the context of a message. Returns the function that drops it. */
  keep(message: SentMessage, value: unknown): () => void
}

/** `read`: the message that opened a turn; undefined: the log has it no more. */
export function createContexts(
  read: (turn: TurnId) => Promise<Pick<Opening, 'messageId' | 'settings'> | undefined>,
): Contexts {
  const kept = new Set<{ message: SentMessage; value: unknown }>()
  const openings = new Map<string, ReturnType<typeof read>>()

  function openingOf(turn: TurnId): ReturnType<typeof read> {
    const key = turnKey(turn)
    const known = openings.get(key)
    if (known !== undefined) return known
    const opening = read(turn)
    opening.catch(() => openings.delete(key)) // the next call reads it again
    openings.set(key, opening)
    for (const oldest of openings.keys()) {
      if (openings.size <= limits.openingsMax) break
      openings.delete(oldest)
    }
    return opening
  }

  return {
    async of(turn): Promise<Context | undefined> {
      const opening = await openingOf(turn)
      if (opening === undefined) return undefined
      const own = [...kept].findLast(
        ({ message: { conversation, messageId } }) =>
          conversation === turn.conversation && messageId === opening.messageId,
      )
      if (own !== undefined) return { value: own.value }
      const { context } = opening.settings
      return context === null ? undefined : { value: JSON.parse(context) }
    },

    keep(message, value) {
      const entry = { message, value }
      kept.add(entry)
      return () => kept.delete(entry)
    },
  }
}
