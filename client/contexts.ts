// The contexts of this process's questions, for the tools that it runs. In memory only: no record
// holds one.
// CONTEXTS-1. A tool gets the context of the message that opened its turn, or none. The turn of a
//     message is known from its turn-started, which the log has before any call of the turn.

import type { Context, ContextOf } from '../services/executor/tools/checked-start.ts'
import type { SentMessage } from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import type { Clock } from '../shared/lib/clock.ts'

export type Contexts = {
  of: ContextOf
  /** Keeps the context of a message until `drop`. */
  keep(message: SentMessage, value: unknown): KeptContext
}

export type KeptContext = {
  /** The message has opened this turn. */
  begin(turn: number): void
  drop(): void
}

type Entry = Context & { turn?: number }

export function createContexts(clock: Pick<Clock, 'after'>): Contexts {
  const entries = new Map<string, Set<Entry>>()
  const waiters = new Set<() => void>()

  function changed(): void {
    for (const waiter of [...waiters]) waiter()
  }

  /** Resolves at the next change, and at the latest in a moment. */
  function nextChange(): Promise<'changed' | 'late'> {
    return new Promise((resolve) => {
      const waiter = () => leave('changed')
      const cancelTimer = clock.after(limits.contextWaitMs, () => leave('late'))
      const leave = (how: 'changed' | 'late') => {
        waiters.delete(waiter)
        cancelTimer()
        resolve(how)
      }
      waiters.add(waiter)
    })
  }

  function found(conversation: string, turn: number): Entry | 'unknown' | undefined {
    const here = [...(entries.get(conversation) ?? [])]
    const own = here.find((entry) => entry.turn === turn)
    return own ?? (here.some((entry) => entry.turn === undefined) ? 'unknown' : undefined)
  }

  /** Our reader of the log may be a moment behind the stages. */
  async function later(conversation: string, turn: number): Promise<Context | undefined> {
    for (;;) {
      const how = await nextChange()
      const entry = found(conversation, turn)
      if (entry !== 'unknown') return entry
      if (how === 'late') return undefined
    }
  }

  return {
    of({ conversation, turn }) {
      const entry = found(conversation, turn)
      return entry === 'unknown' ? later(conversation, turn) : entry
    },

    keep({ conversation }, value) {
      const here = entries.get(conversation) ?? new Set()
      const entry: Entry = { value }
      entries.set(conversation, here.add(entry))
      return {
        begin(turn) {
          entry.turn = turn
          changed()
        },
        drop() {
          here.delete(entry)
          if (here.size === 0) entries.delete(conversation)
          changed()
        },
      }
    },
  }
}
