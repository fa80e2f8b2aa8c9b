// `weir conversations`: lists the newest conversations with their ends and notable facts. A walk back
// over the activity finds them.
// CONVERSATIONS-1. The walk stops early, so memory and work depend on the number shown and on the age
//     of these conversations, within a bound. Only --where may read the whole log.

import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/printable.ts'
import { count, second } from '../../terminal/quantities.ts'
import { factTexts } from '../facts-text.ts'
import { newestRecords } from '../newest-records.ts'
import { type OpenLog, withLog } from '../open-log.ts'
import { type Where, whereOf } from '../turn-filter.ts'
import { type Histories, historiesOf } from './histories.ts'
import { matchingIds } from './matching-ids.ts'
import {
  addActivity,
  begin,
  type ConversationSummary,
  summaryOf,
  type Unfinished,
} from './summary.ts'

/**
 * `where`: conditions on turns (turn-filter.ts). `bundle`: reads this file instead of the log that the
 * settings name.
 */
export type ConversationsOptions = {
  json?: boolean
  limit: string
  where?: string[]
  bundle?: string
}

const limitMax = 100_000

/** Prints the list to `out`. With `json`, one object per line (ConversationSummary). */
export async function listConversations(
  settings: Settings,
  { json, limit, bundle, where: given = [] }: ConversationsOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const max = /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (max < 1 || max > limitMax)
    throw new WeirError(
      'usage',
      `--limit is '${printable(limit)}': give a whole number from 1 to ${limitMax}`,
    )
  const where = whereOf(given)
  const found = await withLog(settings, (log) => newestConversations(log, max, where), { bundle })
  if (json) for (const summary of found) out.write(`${printableJson(summary)}\n`)
  else printList({ found, max, isFiltered: where.size > 0 }, out)
}

/** Records of the activity that are read only for facts about older turns. */
const factRecordsMax = 20_000

/** The `max` conversations with the latest activity, the newest first; with `where`, that match. */
export async function newestConversations(
  log: OpenLog,
  max: number,
  where: Where = new Map(),
): Promise<ConversationSummary[]> {
  const ids = where.size === 0 ? undefined : await matchingIds(log, where, max)
  const wanted = ids?.size ?? max
  const histories = await historiesOf(log, { max, ids })
  const found = new Map<string, Unfinished>()
  let withoutEnd = 0
  let partial = 0
  let older = 0
  for await (const record of newestRecords(log, 'activity')) {
    if (found.size === wanted && withoutEnd === 0) {
      older += 1
      if (partial === 0 || older > factRecordsMax) break
    }
    if (ids?.has(record.key) === false) continue
    const known = found.get(record.key)
    if (known === undefined && found.size === wanted) continue
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
  return [...found.values()].map(summaryOf)
}

/** Undefined: the conversation became active after the read began. */
async function begunFrom(
  log: OpenLog,
  record: StoredRecord,
  histories: Histories,
): Promise<Unfinished | undefined> {
  const rounds = await histories(record.key)
  return rounds === undefined ? undefined : begin(log, record, rounds)
}

const noneYet = 'There is no conversation yet. Start one: weir ask --agent agent.yaml "..."\n'

type Listed = { found: ConversationSummary[]; max: number; isFiltered: boolean }

function printList({ found, max, isFiltered }: Listed, out: NodeJS.WriteStream): void {
  if (found.length === 0) out.write(isFiltered ? 'No conversation matches.\n' : noneYet)
  for (const summary of found) {
    const isWell = summary.last.outcome === 'answered' || summary.last.outcome === 'open'
    const { conversation, question, facts } = summary
    out.write(
      `${painted(out, 'title', printable(conversation))}${question === null ? '' : `  ${printable(question)}`}\n`,
    )
    out.write(`${painted(out, isWell ? 'plain' : 'bad', detailsOf(summary))}\n`)
    const notable = factTexts(facts)
    if (notable.length > 0)
      out.write(`${painted(out, 'warning', printable(`  ! ${notable.join('; ')}`))}\n`)
  }
  if (found.length === max)
    out.write(`The newest ${max}; --limit N shows more, weir inspect ID shows one.\n`)
}

function detailsOf({ agent, turns, inputTokens, outputTokens, last }: ConversationSummary): string {
  const why = last.cap ?? last.class
  const ended = `${last.outcome}${why === null ? '' : ` (${why})`}`
  const tokens = `${inputTokens + outputTokens} tokens`
  return `  ${second(last.at)}  ${ended.padEnd(20)}  ${count(turns, 'turn')}, ${tokens}${agent === null ? '' : `, ${printable(agent)}`}`
}
