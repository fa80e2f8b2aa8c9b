// The retention of records (R7). One setting holds for all logs and for the history of
// conversations, and another one for the evidence in `audit`. In a data folder they are kept until
// somebody deletes them. A shorter retention must cover all records that a group may still fold.
// Otherwise a restart would find half of a turn and stop (position.ts). The topics as a bus creates them
// follow from it.

import type { Milliseconds } from '../lib/clock.ts'
import type { TopicSpec } from './bus.ts'
import { limits } from './limits.ts'
import { guardTopic, guardTopicName, type TopicName, topics } from './topology.ts'
import { latestOutcome } from './turn/tool-deadline.ts'

/** Use of a month, and of a turn that began before it. Longer than `onceMsMax`. */
const budgetsKeptMs = 36 * 24 * 60 * 60_000

const hourMs: Milliseconds = 3_600_000
const dayMs: Milliseconds = 24 * hourMs

/** The value of `retentionDays` that deletes nothing. The default in a data folder. */
export const keptForever = 0

/** The defaults of the settings `retentionDays`, on Kafka, and `toleratedDowntimeDays`, in days. */
export const retentionDaysDefault = 7
export const downtimeDaysDefault = 3

/** The default of the setting `auditDays`: a year, and a month to look back on it. */
export const auditDaysDefault = 400

/** `days`: of the setting `retentionDays`. Undefined: until somebody deletes the records. */
export function retentionMsOf(days: number): Milliseconds | undefined {
  return days === keptForever ? undefined : days * dayMs
}

/** How long a log keeps its records, by the settings. */
export function keptBy({
  retentionDays,
  auditDays,
}: {
  retentionDays: number
  auditDays: number
}): {
  retentionMs: Milliseconds | undefined
  auditMs: Milliseconds
} {
  return { retentionMs: retentionMsOf(retentionDays), auditMs: auditDays * dayMs }
}

/**
 * The longest time from the first record of a turn to its last, under all ceilings. It ends when
 * the executor gives up on a call that was claimed at the last moment.
 */
export const turnLongestMs: Milliseconds = latestOutcome(
  limits.turnWallMsMax + limits.turnExtensionMsMax,
  { startWithinMs: limits.startWithinMsMax, graceMs: limits.graceMsMax },
  limits.toolTimeoutMsMax + limits.turnLingerMs,
)

/**
 * The reason why Weir must not start with these settings, both in days. Undefined: it may. A turn
 * may begin as Weir stops, and its first record must exist when Weir starts again.
 */
export function retentionFault(
  retentionDays: number,
  toleratedDowntimeDays: number,
): string | undefined {
  const keptMs = retentionMsOf(retentionDays)
  if (keptMs === undefined || keptMs > turnLongestMs + toleratedDowntimeDays * dayMs)
    return undefined
  const least = Math.floor(turnLongestMs / dayMs) + 1 + toleratedDowntimeDays
  const needed = `the longest turn (${Math.ceil(turnLongestMs / hourMs)} hours) and the tolerated downtime (${toleratedDowntimeDays} days) must fit into it`
  return `${needed}; set retentionDays to at least ${least}, or toleratedDowntimeDays to less`
}

/**
 * All topics with a deployment's prefix and partition count, as a bus creates them. `retentionMs`:
 * the retention of a log; undefined: until somebody deletes its records. Dead letters are kept longer,
 * budgets as long as one may count, and `audit` for at least `auditMs`. A table keeps the newest record
 * of each key, and the gateway removes the history of a conversation that was idle for the retention.
 */
export function topicSpecs(
  prefix: string,
  partitions: number,
  retentionMs?: Milliseconds | undefined,
  auditMs: Milliseconds = auditDaysDefault * dayMs,
): TopicSpec[] {
  const keptMs: typeof alwaysKeptMs = { ...alwaysKeptMs, audit: auditMs }
  return (Object.keys(topics) as TopicName[]).map((name) => {
    const { kind } = topics[name]
    const spec = { name: prefix + name, kind, partitions }
    if (name === 'conversation-keys') return { ...spec, compactedMs: limits.keysCompactedMs }
    if (kind === 'table') return spec
    if (retentionMs !== undefined)
      return { ...spec, retentionMs: Math.max(retentionMs, keptMs[name] ?? 0) }
    return name === 'budgets' ? { ...spec, retentionMs: keptMs[name] } : spec
  })
}

/** Topics that are kept longer than the retention of a deployment. */
const alwaysKeptMs: Partial<Record<TopicName, Milliseconds>> = {
  'dead-letters': limits.deadLettersKeptMs,
  budgets: budgetsKeptMs,
}

/** The topic of one guard, as a bus creates it. */
export function guardTopicSpec(
  prefix: string,
  guard: string,
  partitions: number,
  retentionMs?: Milliseconds | undefined,
): TopicSpec {
  return { name: prefix + guardTopicName(guard), kind: guardTopic.kind, partitions, retentionMs }
}
