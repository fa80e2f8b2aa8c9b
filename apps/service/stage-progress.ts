// The progress of each stage of a deployment, for a page: its position behind the end of its inbox,
// and whether a process runs it. Reads commits and ends. Joins no group.

import { busKindOf } from '../../shared/bus/kinds.ts'
import type { Bus, PartitionEnds } from '../../shared/contract/bus.ts'
import { type StageName, stageNames, stages } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'

/**
 * `behind`: records that it has not committed, in all partitions. `oldestAt`: the append time of the
 * oldest of them; null: there is none, or it cannot be read.
 */
export type StageProgress = {
  stage: StageName
  isRunning: boolean
  behind: number
  oldestAt: Milliseconds | null
}

type ProgressLog = { bus: Pick<Bus, 'ends' | 'read'>; topicPrefix: string }

/** In the order of the topology. Throws errors of the log. */
export async function stageProgress(
  { bus, topicPrefix }: ProgressLog,
  settings: Settings,
): Promise<StageProgress[]> {
  const places = stageNames.map((stage) => ({
    group: topicPrefix + stage,
    topic: topicPrefix + stages[stage].inbox,
  }))
  const log = createLog({ level: 'silent' })
  const all = await busKindOf(settings).progressOfGroups(settings, places, log)
  return Promise.all(
    stageNames.map(async (stage, place) => {
      const { topic = '', isRunning = false, commits } = all[place] ?? {}
      const waiting = (await bus.ends(topic)).flatMap((ends) => unreadOf(ends, commits))
      const times = await Promise.all(waiting.map((unread) => oldestOf(bus, { topic, ...unread })))
      return {
        stage,
        isRunning,
        behind: waiting.reduce((sum, { from, end }) => sum + end - from, 0),
        oldestAt: times.reduce(earlier, null),
      }
    }),
  )
}

type Unread = { partition: number; from: number; end: number }

/** Empty: none. A group without a commit has read nothing. */
function unreadOf(
  { partition, begin, end }: PartitionEnds,
  commits: ReadonlyMap<number, number> = new Map(),
): Unread[] {
  const from = Math.max(begin, commits.get(partition) ?? begin)
  return end > from ? [{ partition, from, end }] : []
}

/** Null: it is gone, or may not be read. */
async function oldestOf(
  bus: Pick<Bus, 'read'>,
  { topic, partition, from }: Unread & { topic: string },
): Promise<Milliseconds | null> {
  const range = { topic, partition, from, limit: 1, bytesMax: 1 }
  const [record] = await bus.read(range).catch(() => [])
  return record?.time ?? null
}

function earlier(one: Milliseconds | null, other: Milliseconds | null): Milliseconds | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
