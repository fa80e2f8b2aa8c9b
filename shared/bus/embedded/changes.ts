// Waiters for new records of a partition, and the call that wakes them. Each waiter is woken once
// and then checks for itself.

import type { PartitionName } from './log/log-partition.ts'

export type Changes = {
  /** Calls `wake` once, at the next change of that partition. Returns a function that stops it. */
  once(partition: PartitionName, wake: () => void): () => void
  changed(partition: PartitionName): void
  /** Anything may have changed: wakes all. */
  allChanged(): void
}

export function createChanges(): Changes {
  const waiting = new Map<string, Set<() => void>>()

  function wake(name: string): void {
    const woken = waiting.get(name)
    if (woken === undefined) return
    waiting.delete(name)
    for (const each of woken) each()
  }

  return {
    once({ topic, partition }, wake) {
      const name = `${topic}/${partition}`
      const others = waiting.get(name) ?? new Set()
      others.add(wake)
      waiting.set(name, others)
      return () => {
        others.delete(wake)
        if (others.size === 0 && waiting.get(name) === others) waiting.delete(name)
      }
    },
    changed: ({ topic, partition }) => wake(`${topic}/${partition}`),
    allChanged: () => [...waiting.keys()].forEach(wake),
  }
}
