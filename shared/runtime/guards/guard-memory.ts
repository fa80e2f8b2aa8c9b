// What a guard remembers of conversations, as JSON texts: a text cannot be changed behind the
// fold's back, and its size is known (R7).
// GUARD-MEMORY-1. A conversation is remembered from the record that began it (`first`) to long
//     after its last; folding from the oldest `first` gives all of it again.
// GUARD-MEMORY-2. Bounded: the conversation that was heard of longest ago is forgotten first.

import type { Offset } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Marks } from '../derived-id.ts'

type Remembered = { state: string; first: Offset; marksAtFirst: Marks }

export type GuardMemory = {
  get(conversation: ConversationId): string | undefined
  /**
   * `at`: the offset and time of the record after which it is so; `marks` are those before that
   * record.
   */
  set(
    conversation: ConversationId,
    state: string | undefined,
    at: { offset: Offset; time: Milliseconds; marks: Marks },
  ): void
  /** Forgets conversations of which nothing was heard since `time`. */
  forgetBefore(time: Milliseconds): void
  /** Where folding must begin to know all of this again; undefined: nothing is remembered. */
  oldest(): { first: Offset; marksAtFirst: Marks } | undefined
}

export function createGuardMemory(): GuardMemory {
  /** In the order of their first records. */
  const byFirst = new Map<string, Remembered>()
  /** When each was heard of last, in that order. */
  const byLast = new Map<string, Milliseconds>()

  function forget(conversation: ConversationId): void {
    byFirst.delete(conversation)
    byLast.delete(conversation)
  }

  return {
    get: (conversation) => byFirst.get(conversation)?.state,

    set(conversation, state, { offset, time, marks }) {
      if (state === undefined) return forget(conversation)
      const known = byFirst.get(conversation)
      if (known === undefined)
        byFirst.set(conversation, { state, first: offset, marksAtFirst: { ...marks } })
      else known.state = state
      byLast.delete(conversation)
      byLast.set(conversation, time)
      for (const [oldest] of byLast) {
        if (byLast.size <= limits.guardStatesMax) break
        forget(oldest)
      }
    },

    forgetBefore(time) {
      for (const [conversation, last] of byLast) {
        if (last >= time) break
        forget(conversation)
      }
    },

    oldest: () => byFirst.values().next().value,
  }
}
