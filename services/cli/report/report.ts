// `weir report`: what happened in a conversation as one page for a browser, that needs nothing else and can be sent to somebody.

import { basename } from 'node:path'
import { partitionOf } from '../../../shared/bus/partition.ts'
import { systemClock } from '../../../shared/clock.ts'
import { WeirError } from '../../../shared/errors.ts'
import type { Settings } from '../../../shared/settings.ts'
import { refuseTaken, writeWhole } from '../../../shared/whole-file.ts'
import { newestIds } from '../conversations/newest-activity.ts'
import { knownRecords } from '../inspect/known-records.ts'
import { inOrder } from '../inspect/logged.ts'
import type { Timeline } from '../inspect/timeline.ts'
import { timelineOf } from '../inspect/timeline-of.ts'
import type { OpenLog } from '../open-log.ts'
import { withLog } from '../open-log.ts'
import { printable } from '../terminal/printable.ts'
import { count } from '../terminal/quantities.ts'
import type { IndexEntry } from './page/data.ts'
import { pageHtml } from './page-html.ts'
import type { MadeReport } from './report-data.ts'
import { reportData } from './report-data.ts'

export type ReportOptions = { conversation?: string; turn?: string; output: string; force?: boolean; reasoning?: boolean }

export type Report = { settings: Settings; bundle: string | undefined; options: ReportOptions }

/** In one page: conversations that are shown, conversations that are listed, and rounds after which no further one is shown. */
const shownMax = 50
const listedMax = 1_000
const roundsMax = 10_000

/**
 * Writes the page and says so on `out`. `bundle`: reads this file instead of the log that the settings name. Throws `conversation.unknown`, and `usage`
 * for a turn that cannot be, `output.exists`, `output.unwritable`.
 */
export async function report({ settings, bundle, options }: Report, out: NodeJS.WriteStream): Promise<void> {
  const { output, force = false } = options
  const turn = turnIn(options)
  refuseTaken(output, { force, reads: bundle })
  const { entries, reports } = await withLog(settings, (log) => read(log, { ...options, turn }), { bundle })
  const index = { madeAt: systemClock.now(), source: sourceOf(settings, bundle), conversations: entries }
  const bytes = await writeWhole(output, pageHtml(index, reports), { force })
  const rounds = entries.reduce((sum, entry) => sum + entry.rounds, 0)
  const size = bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
  out.write(`${printable(output)}: ${count(reports.length, 'conversation')}, ${count(rounds, 'round')}, ${size}. Open it in a browser.\n`)
}

function turnIn({ turn, conversation }: ReportOptions): number | undefined {
  if (turn === undefined) return undefined
  if (!/^\d{1,15}$/.test(turn))
    throw new WeirError('usage', `--turn is '${printable(turn)}'; must be the number of a turn, as weir inspect shows it`)
  if (conversation === undefined)
    throw new WeirError('usage', '--turn needs --conversation: turns are numbered by partition, not by conversation')
  return Number(turn)
}

/** Without the folder: a page is sent to others. */
function sourceOf({ bus }: Settings, bundle: string | undefined): string {
  if (bundle !== undefined) return `the bundle ${basename(bundle)}`
  return bus === 'kafka' ? 'Kafka' : 'a data folder'
}

// ── Reading ──

type Found = { entries: IndexEntry[]; reports: MadeReport[] }
type Wanted = { conversation?: string; turn: number | undefined; reasoning?: boolean }

async function read(log: OpenLog, { conversation, turn, reasoning = false }: Wanted): Promise<Found> {
  const ids = conversation === undefined ? await newestIds(log, listedMax) : [conversation]
  if (ids.length === 0) throw new WeirError('conversation.unknown', 'there is no conversation in this log, so there is nothing to report')
  const entries: IndexEntry[] = []
  const reports: MadeReport[] = []
  let rounds = 0
  for (const id of ids) {
    if (reports.length >= shownMax || rounds >= roundsMax) {
      entries.push({ ...unread, conversation: id })
      continue
    }
    const { report, from, to } = await reportOf(id, log, { turn, reasoning })
    const { timeline, sentence, tone, figures } = report.data
    rounds += figures.rounds
    entries.push({
      ...{ conversation: id, sentence, tone, from, to },
      turns: timeline.turns.length,
      rounds: figures.rounds,
      place: reports.length,
    })
    reports.push(report)
  }
  return { entries, reports }
}

const unread = {
  sentence: ['Not in this page: it would have become too large.'],
  tone: 'warning' as const,
  turns: 0,
  rounds: 0,
  from: null,
  to: null,
  place: null,
}

async function reportOf(conversation: string, log: OpenLog, { turn, reasoning }: { turn: number | undefined; reasoning: boolean }) {
  const records = inOrder(await knownRecords(conversation, log))
  const timeline = timelineOf(conversation, records, { reasoning })
  const chosen =
    turn === undefined ? records : records.filter(({ message }) => message !== undefined && 'turn' in message && message.turn === turn)
  const shown = turn === undefined ? timeline : onlyTurn(timeline, turn)
  const where = { partition: partitionOf(conversation, log.partitions), topicPrefix: log.topicPrefix }
  return { report: reportData(shown, chosen, where), from: records[0]?.time ?? null, to: records.at(-1)?.time ?? null }
}

function onlyTurn(timeline: Timeline, turn: number): Timeline {
  const turns = timeline.turns.filter((one) => one.turn === turn)
  if (turns.length > 0) return { ...timeline, turns, messages: [] }
  const there = timeline.turns.map((one) => one.turn).slice(-10)
  const known =
    there.length === 0 ? 'it has no turn' : `its ${there.length === timeline.turns.length ? '' : 'newest '}turns are ${there.join(', ')}`
  throw new WeirError('usage', `conversation ${printable(timeline.conversation)} has no turn ${turn}; ${known}`)
}
