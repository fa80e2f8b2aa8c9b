// `weir conversations`: lists the newest conversations and how each ended. A walk back over the
// activity finds them and stops early, so memory and work depend on the number shown, not on the
// size of the log.

import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/printable.ts'
import { count, second } from '../../terminal/quantities.ts'
import { newestRecords } from '../newest-records.ts'
import { type OpenLog, withLog } from '../open-log.ts'
import { historiesOf } from './histories.ts'
import {
  begin,
  type ConversationSummary,
  finishedBy,
  type Unfinished,
  withoutEnd,
} from './summary.ts'

/** `bundle`: reads this file instead of the log that the settings name. */
export type ConversationsOptions = { json?: boolean; limit: string; bundle?: string }

const limitMax = 100_000

/** Prints the list to `out`. With `json`, one object per line (ConversationSummary). */
export async function listConversations(
  settings: Settings,
  { json, limit, bundle }: ConversationsOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const max = /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (max < 1 || max > limitMax)
    throw new WeirError(
      'usage',
      `--limit is '${printable(limit)}': give a whole number from 1 to ${limitMax}`,
    )
  const found = await withLog(settings, (log) => newestConversations(log, max), { bundle })
  if (json) for (const summary of found) out.write(`${printableJson(summary)}\n`)
  else printList(found, max, out)
}

/** The `max` conversations with the latest activity, the newest first. */
export async function newestConversations(
  log: OpenLog,
  max: number,
): Promise<ConversationSummary[]> {
  const histories = await historiesOf(log, max)
  const found = new Map<string, ConversationSummary | Unfinished>()
  let unfinished = 0
  for await (const record of newestRecords(log, 'activity')) {
    const isNew = !found.has(record.key)
    if (isNew && found.size === max) {
      if (unfinished === 0) break
      continue
    }
    const rounds = isNew ? await histories(record.key) : []
    if (rounds === undefined) continue
    if (isNew) unfinished += 1
    const known = found.get(record.key) ?? (await begin(log, record, rounds))
    const finished = 'last' in known ? undefined : finishedBy(known, record)
    if (finished !== undefined) unfinished -= 1
    found.set(record.key, finished ?? known)
    if (unfinished === 0 && found.size === max) break
  }
  return [...found.values()].map((known) =>
    'last' in known ? known : withoutEnd(known, 'unknown'),
  )
}

function printList(found: ConversationSummary[], max: number, out: NodeJS.WriteStream): void {
  if (found.length === 0)
    out.write('There is no conversation yet. Start one: weir ask --agent agent.yaml "..."\n')
  for (const summary of found) {
    const isWell = summary.last.outcome === 'answered' || summary.last.outcome === 'open'
    out.write(`${painted(out, 'title', printable(summary.conversation))}\n`)
    out.write(`${painted(out, isWell ? 'plain' : 'bad', detailsOf(summary))}\n`)
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
