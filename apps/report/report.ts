// `weir report`: writes a conversation as one page for a browser. The page needs no other files, so
// you can send it to others.

import { basename } from 'node:path'
import { newestIds } from '../../client/history/newest-records.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { refuseTaken, writeWhole } from '../../shared/lib/files/whole-file.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { isEmptyFilter, type Sort, type TurnFilter } from '../../shared/view/filter/turn-filter.ts'
import { inOrder } from '../../shared/view/logged.ts'
import { pageOf } from '../history/conversations/conversations.ts'
import { type FilterOptions, filterOf, sortOf } from '../history/filter-options.ts'
import { existingRecords } from '../history/inspect/existing-records.ts'
import { contextTurns, recordsOf } from '../history/inspect/recorded.ts'
import { missingBeginning } from '../history/missing-beginning.ts'
import { type OpenLog, withLog } from '../history/open-log.ts'
import { printable } from '../terminal/text/printable.ts'
import { count } from '../terminal/text/quantities.ts'
import { transcriptSource } from '../transcripts/made-up-settings.ts'
import { reportOf } from './conversation-report.ts'
import { indexEntry, listedEntry } from './index-entry.ts'
import type { IndexEntry, ReportIndex } from './page/data.ts'
import { pageHtml } from './page-html.ts'
import type { MadeReport } from './report-data.ts'

export type ReportOptions = FilterOptions & {
  conversation?: ConversationId
  limit?: string
  sort?: string
  turn?: string
  output: string
  force?: boolean
  reasoning?: boolean
  unredacted?: boolean
}

export type Report = { settings: Settings; bundle: string | undefined; options: ReportOptions }

/**
 * Limits of one page: conversations with data, conversations in the index, and rounds after which
 * no further conversation gets data.
 */
const shownMax = 50
const listedMax = 1_000
const roundsMax = 10_000

/**
 * Writes the page and prints a line to `out`. `bundle`: reads this file instead of the log that the
 * settings name. Throws `conversation.unknown`, `usage` for a bad turn, `output.exists`,
 * `output.unwritable`.
 */
export async function report(
  { settings, bundle, options }: Report,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { output, force = false, unredacted } = options
  const turn = turnIn(options)
  const selected = selectedBy(options)
  refuseTaken(output, { force, reads: bundle })
  const { entries, reports, gone, about } = await withLog(
    settings,
    async (log) => ({
      ...(await read(log, { ...options, ...selected, turn })),
      about: aboutBundle(log),
    }),
    { bundle, unredacted, conversation: options.conversation },
  )
  const index = {
    madeAt: systemClock.now(),
    source: sourceOf(settings, bundle),
    ...about,
    conversations: entries,
  }
  const bytes = await writeWhole(output, pageHtml(index, reports), { force })
  const rounds = entries.reduce((sum, entry) => sum + entry.rounds, 0)
  const size =
    bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  const summary = `${count(reports.length, 'conversation')}, ${count(rounds, 'round')}, ${size}${notWhole(entries, gone)}`
  out.write(`${printable(output)}: ${summary}. Open it in a browser.\n`)
}

/** Uses the same texts as `weir export`. */
function notWhole(entries: IndexEntry[], gone: number): string {
  const open = entries.reduce((sum, { openTurns }) => sum + openTurns, 0)
  const cut = entries.reduce((sum, { cutTurns }) => sum + cutTurns, 0)
  return [
    open > 0 ? `; ${count(open, 'turn')} had not ended` : '',
    cut > 0 ? `; ${missingBeginning(count(cut, 'turn'))}` : '',
    gone > 0 ? `; of ${count(gone, 'older conversation')} nothing is left to show` : '',
  ].join('')
}

function turnIn({ turn, conversation }: ReportOptions): number | undefined {
  if (turn === undefined) return undefined
  if (!/^\d{1,15}$/.test(turn))
    throw usageError(
      `--turn is '${printable(turn)}': give the number of a turn from weir inspect, such as 1`,
    )
  if (conversation === undefined)
    throw usageError('--turn needs --conversation: each conversation numbers its turns from 1')
  return Number(turn)
}

/** The conversations of the page. Throws `usage`. */
function selectedBy({
  conversation,
  limit = `${listedMax}`,
  sort,
  ...conditions
}: ReportOptions): Selected {
  const filter = filterOf(conditions)
  const max = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (max < 1 || max > listedMax)
    throw usageError(`--limit is '${printable(limit)}': give a whole number from 1 to ${listedMax}`)
  if (conversation !== undefined && !isEmptyFilter(filter))
    throw usageError('--conversation names the conversation: remove --where, --text and the times')
  return { filter, sorting: sortOf(sort), max }
}

async function idsOf(log: OpenLog, { filter, sorting, max }: Selected): Promise<ConversationId[]> {
  if (isEmptyFilter(filter) && sorting === 'time') return newestIds(log, max)
  const { conversations } = await pageOf(log, filter, { sort: sorting, limit: max })
  return conversations.map(({ conversation }) => conversation)
}

/** Without the folder, because pages are sent to others. */
function sourceOf(settings: Settings, bundle: string | undefined): string {
  if (bundle !== undefined) return `the bundle ${basename(bundle)}`
  return busKindOf(settings).place
}

function aboutBundle({
  bundle,
}: OpenLog): Pick<ReportIndex, 'exportedAt' | 'redaction'> & Partial<Pick<ReportIndex, 'source'>> {
  if (bundle === undefined) return { exportedAt: null, redaction: null }
  const { madeAt, redaction, source } = bundle.facts
  const about = { exportedAt: Date.parse(madeAt), redaction }
  if (!source.startsWith(transcriptSource)) return about
  return {
    ...about,
    source: `transcripts, at made-up times, in the bundle ${basename(bundle.file)}`,
  }
}

// ── Reading ──

/** `gone`: the number of conversations with only their activity left in the log. */
type Found = { entries: IndexEntry[]; reports: MadeReport[]; gone: number }
type Selection = Selected & {
  conversation?: ConversationId
  turn: number | undefined
  reasoning?: boolean
}
type Selected = { filter: TurnFilter; sorting: Sort; max: number }

async function read(
  log: OpenLog,
  { conversation, turn, reasoning = false, ...selected }: Selection,
): Promise<Found> {
  const ids = conversation === undefined ? await idsOf(log, selected) : [conversation]
  if (ids.length === 0)
    throw new WeirError(
      'conversation.unknown',
      isEmptyFilter(selected.filter)
        ? 'there is no conversation in this log: nothing to report'
        : 'no conversation matches: nothing to report',
    )
  const entries: IndexEntry[] = []
  const reports: MadeReport[] = []
  let rounds = 0
  let gone = 0
  for (const id of ids) {
    if (reports.length >= shownMax || rounds >= roundsMax) {
      entries.push(listedEntry(id))
      continue
    }
    const records =
      conversation === undefined ? await recordsOf(id, log) : await existingRecords(id, log)
    if (records.length === 0) {
      gone += 1
      continue
    }
    const context = await contextTurns(id, log)
    const showing = { log, turn, reasoning, context }
    const { report, from } = await reportOf(id, inOrder(records), showing)
    const entry = indexEntry({ conversation: id, from, place: reports.length }, report.data)
    rounds += entry.rounds
    entries.push(entry)
    reports.push(report)
  }
  if (reports.length === 0)
    throw new WeirError(
      'conversation.unknown',
      'nothing to report: the log no longer has the records of any conversation',
    )
  return { entries, reports, gone }
}
