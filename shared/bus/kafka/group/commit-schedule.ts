// The commits of one subscription, gathered and sent one request at a time. Each is true once it is
// here, so a later one replaces it.

import type { Commit } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'

export type CommitSchedule = {
  /** Sends it within `commitMs`. */
  add(partition: number, commit: Commit): void
  /** The partition belongs to another member. */
  drop(partition: number): void
  /** Sends all now. Never rejects: commits that failed stay for the next time. */
  flush(): Promise<void>
  /** Starts no further timer, and cancels the pending one. */
  stop(): void
}

export type CommitScheduleOptions = {
  clock: Clock
  commitMs: Milliseconds
  commit(commits: Map<number, Commit>): Promise<void>
  /** Is the partition still ours? */
  isOwned(partition: number): boolean
  /** Decides whether a failure ends the subscription. If not, the commits are sent again. */
  onFailed(error: unknown): 'retry' | 'stop'
}

export function createCommitSchedule(options: CommitScheduleOptions): CommitSchedule {
  const { clock, commitMs } = options
  const commits = new Map<number, Commit>()
  let cancelTimer: (() => void) | undefined
  let flushing: Promise<void> = Promise.resolve()

  function schedule(): void {
    cancelTimer ??= clock.after(commitMs, () => {
      cancelTimer = undefined
      void flush()
    })
  }

  /** One at a time: an older commit must not follow a newer one. */
  function flush(): Promise<void> {
    flushing = flushing.then(async () => {
      if (commits.size === 0) return
      const sent = new Map(commits)
      commits.clear()
      try {
        await options.commit(sent)
      } catch (error) {
        for (const [partition, commit] of sent)
          if (!commits.has(partition) && options.isOwned(partition)) commits.set(partition, commit)
        if (options.onFailed(error) === 'retry') schedule()
      }
    })
    return flushing
  }

  return {
    add(partition, commit) {
      commits.set(partition, commit)
      schedule()
    },
    drop: (partition) => void commits.delete(partition),
    flush,
    stop: () => cancelTimer?.(),
  }
}
