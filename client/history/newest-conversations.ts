// The newest conversations with their ends and notable facts. A walk back over the activity finds
// them.
// The walk stops early, so memory and work depend on the number shown and on the age
// of these conversations, within a bound. A filter asks the index (client/search).

import type { StoredRecord } from '../../shared/contract/bus.ts'
import { type Histories, historiesOf } from './histories.ts'
import { newestLoneForks } from './lone-forks.ts'
import { newestRecords } from './newest-records.ts'
import type { ReadableLog } from './readable-log.ts'
import {
  addActivity,
  begin,
  type ConversationSummary,
  summaryOf,
  type Unfinished,
} from './summary.ts'

/** Records of the activity that are read only for facts about older turns. */
const factRecordsMax = 20_000

/** The `max` conversations with the latest activity, the newest first. */
export async function newestConversations(
  log: ReadableLog,
  max: number,
): Promise<ConversationSummary[]> {
  const histories = await historiesOf(log, max)
  const found = new Map<string, Unfinished>()
  let withoutEnd = 0
  let partial = 0
  let older = 0
  for await (const record of newestRecords(log, 'activity')) {
    if (found.size === max && withoutEnd === 0) {
      older += 1
      if (partial === 0 || older > factRecordsMax) break
    }
    const known = found.get(record.key)
    if (known === undefined && found.size === max) continue
    const one = known ?? (await begunFrom(log, record, histories))
    if (one === undefined) continue
    if (known === undefined) {
      found.set(record.key, one)
      withoutEnd += 1
      if (!one.isWhole) partial += 1
    }
    const { last, isWhole } = one
    addActivity(one, record)
    if (last === undefined && one.last !== undefined) withoutEnd -= 1
    if (!isWhole && one.isWhole) partial -= 1
  }
  const oldest = [...found.values()].at(-1)
  const since = found.size === max && oldest !== undefined ? oldest.at : 0
  const forks = await newestLoneForks(log, { since, max, isKnown: (id) => found.has(id) })
  const all = [...found.values()].map((one) => ({ at: one.at, summary: summaryOf(one) }))
  for (const fork of forks) all.push({ at: fork.last.at, summary: fork })
  if (forks.length > 0) all.sort((a, b) => b.at - a.at)
  return all.slice(0, max).map(({ summary }) => summary)
}

/** Undefined: the conversation became active after the read began. */
async function begunFrom(
  log: ReadableLog,
  record: StoredRecord,
  histories: Histories,
): Promise<Unfinished | undefined> {
  const history = await histories(record.key)
  return history === undefined ? undefined : begin(log, record, history)
}
