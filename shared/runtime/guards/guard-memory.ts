// A guard's memory: its state of each conversation as JSON text. A guard cannot change a text
// unnoticed, and the size of a text is known (R7).
// A conversation is kept from its first record (`first`) to long after its last.
// Folding from the oldest `first` restores the memory. `first` of a fork is that of its origin.
// Bounded: the conversation that was idle longest is forgotten first.

import type { Offset } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import type { Marks } from '../derived-id.ts'
import { type CallEnds, createCallEnds } from './call-ends.ts'

/**
 * Without a state: a fork whose guard cleared it, so it does not get its origin's again. `ends`: of a
 * guard that sees ends.
 */
type Remembered = {
  state: string | undefined
  first: Offset
  marksAtFirst: Marks
  ends: CallEnds | undefined
}

export type GuardMemory = {
  get(conversation: ConversationId): string | undefined
  /** Undefined: there is no state, or the guard sees no ends. */
  endsOf(conversation: ConversationId): CallEnds | undefined
  /**
   * A fork without a state begins with the newest state of its origin. That may know of turns after
   * the fork: a guard may know too much, never too little. `time`: of the record.
   */
  fork(conversation: ConversationId, origin: ConversationId, time: Milliseconds): void
  /** `at`: the offset and time of the record that led to this state, and the marks before it. */
  set(
    conversation: ConversationId,
    state: string | undefined,
    at: { offset: Offset; time: Milliseconds; marks: Marks; isFork: boolean },
  ): void
  /** Forgets conversations without a record since `time`. */
  forgetBefore(time: Milliseconds): void
  /** The start of a fold that restores this memory. Undefined: the memory is empty. */
  oldest(): { first: Offset; marksAtFirst: Marks } | undefined
}

export function createGuardMemory(seesEnds = false): GuardMemory {
  /** In the order of their first records. */
  const byFirst = new Map<string, Remembered>()
  /** The time of each conversation's last record, oldest first. */
  const byLast = new Map<string, Milliseconds>()

  function forget(conversation: ConversationId): void {
    byFirst.delete(conversation)
    byLast.delete(conversation)
  }

  return {
    get: (conversation) => byFirst.get(conversation)?.state,
    endsOf: (conversation) => byFirst.get(conversation)?.ends,

    fork(conversation, origin, time) {
      const known = byFirst.get(origin)
      if (known?.state === undefined || byFirst.has(conversation)) return
      byFirst.set(conversation, structuredClone(known))
      byLast.set(conversation, time)
      const sorted = [...byFirst].sort(([, a], [, b]) => a.first - b.first)
      byFirst.clear()
      for (const [id, remembered] of sorted) byFirst.set(id, remembered)
    },

    set(conversation, state, { offset, time, marks, isFork }) {
      const known = byFirst.get(conversation)
      if (state === undefined && (known === undefined || !isFork)) return forget(conversation)
      if (known === undefined)
        byFirst.set(conversation, {
          state,
          first: offset,
          marksAtFirst: { ...marks },
          ends: seesEnds ? createCallEnds() : undefined,
        })
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
