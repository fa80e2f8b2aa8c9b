// The contexts of this process's questions, for the tools that it runs. They stay in memory. Only a
// question with `record` has its context in the log too.
// A tool gets the context of the message that opened its turn, or none. The log knows
// that message.
// The first context of a message counts, and a recorded one before all others. A repeat by
// somebody else does not lend a tool their own context.

import { type SentMessage, type TurnId, turnKey } from '../../shared/contract/ids.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Context, ContextOf } from '../../shared/tools/checked-start.ts'
import type { Opening } from '../turn/opening.ts'

/** Turns of which a process keeps the message that opened them, for the contexts of tools. */
const openingsMax = 1_000

export type Contexts = {
  of: ContextOf
  /** Keeps the context of a message. Returns the function that drops it. */
  keep(message: SentMessage, value: unknown): () => void
  /** Those of now. */
  kept(): readonly KeptContext[]
}

export type KeptContext = { message: SentMessage; value: unknown }

/**
 * `read`: the message that opened a turn; undefined: the log has it no more. `othersBring`: resolves
 * when no other process can still bring the context of a turn that was opened at that time.
 */
export function createContexts(
  read: (turn: TurnId) => Promise<Opening | undefined>,
  othersBring: (time: Milliseconds) => Promise<void> = async () => {},
): Contexts {
  const kept = new Set<KeptContext>()
  const openings = new Map<string, ReturnType<typeof read>>()

  function openingOf(turn: TurnId): ReturnType<typeof read> {
    const key = turnKey(turn)
    const known = openings.get(key)
    if (known !== undefined) return known
    const opening = read(turn)
    opening.catch(() => openings.delete(key)) // the next call reads it again
    openings.set(key, opening)
    for (const oldest of openings.keys()) {
      if (openings.size <= openingsMax) break
      openings.delete(oldest)
    }
    return opening
  }

  return {
    async of(turn): Promise<Context | undefined> {
      const opening = await openingOf(turn)
      if (opening === undefined) return undefined
      const { context } = opening.settings
      if (context !== null) return { value: JSON.parse(context) }
      const own = () =>
        [...kept].find(
          ({ message: { conversation, messageId } }) =>
            conversation === turn.conversation && messageId === opening.messageId,
        )
      if (own() === undefined) await othersBring(opening.time)
      const found = own()
      return found && { value: found.value }
    },

    keep(message, value) {
      const entry = { message, value }
      kept.add(entry)
      return () => kept.delete(entry)
    },

    kept: () => [...kept],
  }
}
