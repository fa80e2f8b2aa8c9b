// The position of a consumer group in its topic, as any bus reports it.

import type { Offset } from '../contract/bus.ts'

export type GroupPlace = { group: string; topic: string }

export type GroupProgress = GroupPlace & {
  /** A process reads the topic for the group now. */
  isRunning: boolean
  /** By partition: the first record that is not done. A partition without a commit is missing. */
  commits: ReadonlyMap<number, Offset>
}
