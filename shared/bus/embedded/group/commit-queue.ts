// The commits of steps without outputs, which wait for a write that takes them along.
// Owns: the newest waiting commit of each reader, and the timer.

import type { Commit } from '../../../contract/bus.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { GroupCommit } from '../log/log-commits.ts'

/** How long a commit waits for a write that takes it along. */
const commitWaitMs = 100

/** `of`: the reader that commits. `committed` is called when the commit is durable. */
export type Commitment = {
  of: Omit<GroupCommit, keyof Commit>
  commit: Commit
  committed: () => void
}

export type CommitQueue = {
  /** Replaces the waiting commitment of the same reader. */
  push(commitment: Commitment): void
  /** The waiting commitments. They stay until `written`. */
  waiting(): Commitment[]
  /** These are durable, and with them all older ones of their readers. */
  written(commitments: Commitment[]): void
}

/** `onDue`: called when the oldest commitment has waited long enough. */
export function createCommitQueue(clock: Clock, onDue: () => void): CommitQueue {
  const newest = new Map<Commitment['of'], Commitment>()
  let isTimerSet = false

  return {
    push(commitment) {
      newest.set(commitment.of, commitment)
      if (isTimerSet) return
      isTimerSet = true
      clock.after(commitWaitMs, () => {
        isTimerSet = false
        onDue()
      })
    },

    waiting: () => [...newest.values()],

    written(commitments) {
      for (const { of, committed } of commitments) {
        newest.delete(of)
        committed()
      }
    },
  }
}

export function groupCommitOf({
  of: { group, topic, partition },
  commit: { offset, metadata },
}: Commitment): GroupCommit {
  return { group, topic, partition, offset, metadata }
}
