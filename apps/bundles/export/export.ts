// `weir export -o FILE` writes conversations, or a stretch of time, into one file: a bundle to
// keep, send, inspect and replay. The file exists only if the exit code is 0.

import { bundlePartitionsMax } from '../../../shared/bus/bundle/bounds.ts'
import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listingCommand } from '../../history/conversations/listing-command.ts'
import { missingBeginning } from '../../history/missing-beginning.ts'
import { type OpenLog, withLog } from '../../history/open-log.ts'
import { printable } from '../../terminal/printable.ts'
import { count } from '../../terminal/quantities.ts'
import { makeBundle } from '../make-bundle.ts'
import { copySelection } from './copy.ts'
import { type ExportFilter, type FilterOptions, filterOf } from './export-filter.ts'
import { learningSink, plainSink, redactingSink } from './record-sinks.ts'
import { createRedaction } from './redaction.ts'
import { type RedactionRule, readRedactionRules } from './redaction-rules.ts'
import { type Selection, selectionIn } from './selection.ts'
import { createTurnTally, type TurnTally } from './turn-tally.ts'

/** `redact`: a file of rules. `bundle`: the source, instead of the log. */
export type ExportOptions = FilterOptions & {
  output: string
  force?: boolean
  redact?: string
  bundle?: string
}

/** Throws `usage`, `output.*`, and `conversation.unknown` if no turn matches. */
export async function exportBundle(
  options: ExportOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 130> {
  const { output, redact } = options
  const filter = filterOf(options, systemClock.now())
  const rules = redact === undefined ? [] : readRedactionRules(redact)
  return makeBundle(options, out, async (bundle, signal) => {
    const writing = { filter, rules, bundle, options, settings, signal }
    const summary = await withLog(settings, (log) => write(log, writing), {
      bundle: options.bundle,
      signal,
    })
    return summary === undefined ? undefined : `${output}: ${summary}\n`
  })
}

type Writing = {
  filter: ExportFilter
  rules: RedactionRule[]
  bundle: BundleWriter
  options: ExportOptions
  settings: Settings
  signal: AbortSignal
}

/** The summary to print; undefined: the export was stopped. */
async function write(
  log: OpenLog,
  { filter, rules, bundle, options, settings, signal }: Writing,
): Promise<string | undefined> {
  const selection = await selectionIn(log, filter, signal)
  if (log.partitions > bundlePartitionsMax)
    throw new WeirError(
      'usage',
      `the topics have ${log.partitions} partitions, and a bundle can have ${bundlePartitionsMax}: such a log cannot be exported`,
    )
  const tally = createTurnTally(log.partitions)
  const leftOut = await copied({ log, selection, bundle, tally, rules, signal })
  if (signal.aborted) return undefined
  const turns = tally.turns()
  if (turns.length === 0) throw nothingFound(options, selection)
  for (const turn of turns) bundle.turn(turn)
  const { conversation, since, until, where } = options
  const facts = {
    madeAt: new Date(systemClock.now()).toISOString(),
    source: log.bundle?.facts.source ?? settings.bus,
    topicPrefix: log.topicPrefix,
    partitions: log.partitions,
    asked: JSON.stringify({ conversation, since, until, where }),
    redaction: redactionOf(log, rules),
  }
  await bundle.finish(facts, signal)
  const open = turns.filter(({ outcome }) => outcome === 'open').length
  const cut = turns.filter(({ whole }) => !whole).length
  const conversations = new Set(turns.map((turn) => turn.conversation)).size
  return [
    `${count(conversations, 'conversation')}, ${count(turns.length, 'turn')}, ${count(bundle.records, 'record')}`,
    ...(open > 0 ? [`; ${count(open, 'turn')} had not ended`] : []),
    ...(cut > 0 ? [`; ${missingBeginning(count(cut, 'turn'))}`] : []),
    ...(rules.length > 0 ? ['; redacted, so a replay can decide differently from the log'] : []),
    ...(leftOut > 0
      ? [`; left out as unreadable or as late parts of a stream: ${count(leftOut, 'record')}`]
      : []),
  ].join('')
}

/** Includes the redaction of the source bundle. */
function redactionOf({ bundle }: OpenLog, rules: RedactionRule[]): string | null {
  const names = [...(bundle?.facts.redaction?.split(', ') ?? []), ...rules.map(({ name }) => name)]
  return names.length === 0 ? null : names.join(', ')
}

type Copied = {
  log: OpenLog
  selection: Selection
  bundle: BundleWriter
  tally: TurnTally
  rules: RedactionRule[]
  signal: AbortSignal
}

/** Returns the number of records left out. */
async function copied({ log, selection, bundle, tally, rules, signal }: Copied): Promise<number> {
  if (rules.length === 0) {
    await copySelection({ log, selection, sink: plainSink(bundle, tally), signal })
    return 0
  }
  const redaction = createRedaction(rules)
  const learning = learningSink(redaction)
  const still = ending(log)
  await copySelection({ log: still, selection, sink: learning, signal })
  learning.finish()
  const sink = redactingSink(bundle, tally, redaction)
  await copySelection({ log: still, selection, sink, signal })
  sink.finish()
  return sink.leftOut
}

/**
 * The log up to its ends at the first reading. A later record would be copied in the second pass
 * without having been learned from in the first.
 */
function ending(log: OpenLog): OpenLog {
  const known = new Map<string, ReturnType<Bus['ends']>>()
  const ends = (topic: string) => {
    const found = known.get(topic) ?? log.bus.ends(topic)
    known.set(topic, found)
    return found
  }
  return { ...log, bus: { ...log.bus, ends } }
}

function nothingFound(
  { conversation = [], bundle }: ExportOptions,
  { others }: Selection,
): WeirError {
  const which =
    conversation.length > 0
      ? `conversation ${conversation.map((id) => printable(id)).join(', ')}`
      : 'any conversation'
  const there = [...others].map(([key, values]) =>
    values.size === 0 ? `no ${key}` : `${key} ${printable([...values].join(', '))}`,
  )
  const has = there.length === 0 ? '' : `. Its turns have ${there.join(' and ')}`
  return new WeirError(
    'conversation.unknown',
    `no turn of ${which} in the log matches${has}. To list the conversations, run ${listingCommand(bundle)}`,
  )
}
