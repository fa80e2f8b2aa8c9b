// `weir replay` repeats every stage's decisions from the log and compares them with the records.
// With another policy or guard it finds the decisions that change. Nothing here can reach a model
// or tool. Exit codes: 0 equal, or the what-if is answered, 1 different, 2 trouble or nothing to
// compare.

import { cutTurns } from '../../shared/bus/bundle/bus.ts'
import { importedTurnsIn } from '../../shared/bus/embedded/imported.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import type { ConversationId, TurnId } from '../../shared/contract/ids.ts'
import { inboxOf, stages } from '../../shared/contract/topology.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { refuseTaken, writeWhole } from '../../shared/lib/files/whole-file.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { isEmptyFilter, type TurnFilter } from '../../shared/view/filter/turn-filter.ts'
import { type FilterOptions, filterOf, turnsFound } from '../history/filter-options.ts'
import { type OpenLog, withLog } from '../history/open-log.ts'
import { type NumberOf, readTurnNumbers } from '../history/turn-numbers.ts'
import { entriesOf } from '../terminal/policy-pairs.ts'
import { instantOfFlag } from '../terminal/text/instant-text.ts'
import { count } from '../terminal/text/quantities.ts'
import type { Tally } from './compare.ts'
import { recordedGuard } from './guard/recorded-guard.ts'
import type { Period, ReadLog } from './log-range.ts'
import { printReplayed, replayedJson } from './print-replayed.ts'
import { printWhatIf, whatIfJson } from './print-what-if.ts'
import { replayLog } from './replay-log.ts'
import { printSweep, sweepJson, sweepPage } from './sweep.ts'
import { sweepHtml } from './sweep-html.ts'
import { contentOf, contentsOf, type Sweep, sweepOf } from './what-if/policy-flags.ts'
import { whatIf } from './what-if/what-if.ts'

export type ReplayOptions = FilterOptions & {
  conversation?: ConversationId
  set?: string[]
  policy?: string
  guard?: string
  sweep?: string
  output?: string
  force?: boolean
  full?: boolean
  json?: boolean
}

type Given = Omit<ReplayOptions, keyof FilterOptions | 'sweep'> & {
  filter: TurnFilter
  period: Period
  mayGrow: boolean
}

/**
 * `bundle`: a file of weir export. Undefined: the log of the settings. Resolves to the exit code.
 */
export async function replay(
  bundle: string | undefined,
  options: ReplayOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { since, until, sweep, where, text, ...rest } = options
  const given: Given = {
    ...rest,
    filter: filterOf(options),
    period: periodOf(options, Date.now()),
    mayGrow: bundle === undefined && !busKindOf(settings).hasAtomicSteps,
  }
  if (options.output !== undefined && sweep === undefined)
    throw usageError('--output needs --sweep, whose plot it is')
  if (options.output !== undefined)
    refuseTaken(options.output, { force: options.force ?? false, reads: bundle })
  if (sweep !== undefined) {
    if (options.set !== undefined || options.policy !== undefined || options.guard !== undefined)
      throw usageError('--sweep tries one threshold alone: remove --set, --policy and --guard')
    const swept = sweepOf(sweep)
    return withLog(settings, (log) => trySweep(log, swept, given, out), { bundle })
  }
  if (options.set !== undefined || options.policy !== undefined || options.guard !== undefined) {
    const content = contentOf(options)
    return withLog(settings, (log) => tryWhatIf(log, content, given, out), { bundle })
  }
  return withLog(settings, (log) => compare(log, given, out), { bundle })
}

async function compare(
  log: OpenLog,
  { conversation, filter, json, full = false, period, mayGrow }: Given,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { progress } = log
  const replayed = await replayLog({
    log: readOnly(log),
    conversations: await selectedIn(log, { conversation, filter }),
    ...period,
    grows: mayGrow,
    now: log.bus.clock.now(),
    progress,
  })
  progress.end()
  if (replayed.differences === 0 && isNothing(replayed.tally, period))
    throw nothingJudged(conversation, period, replayed.tally)
  const cut = log.bundle ? cutTurns(log.bundle) : []
  if (json) out.write(`${replayedJson(replayed)}\n`)
  else
    printReplayed(
      replayed,
      {
        full,
        isRedacted: log.bundle?.facts.redaction != null,
        cut,
        numberOf: await numbersIn(log, cut),
      },
      out,
    )
  return replayed.differences === 0 ? 0 : 1
}

async function tryWhatIf(
  log: OpenLog,
  content: ReturnType<typeof contentOf>,
  given: Given,
  out: NodeJS.WriteStream,
): Promise<0> {
  const { conversation, filter, json, full = false, period } = given
  const process =
    given.guard === undefined
      ? undefined
      : await (await import('./guard/guard-process.ts')).startGuardProcess(given.guard)
  try {
    const isExternal = process?.guard.external === true
    const guard = isExternal ? await recordedGuard(process.guard, readOnly(log)) : process
    const { changes, conversations } = await whatIf({
      log: readOnly(log),
      contents: [content],
      guard,
      only: await selectedIn(log, { conversation, filter }),
      ...period,
      progress: log.progress,
    })
    log.progress.end()
    if (conversations === 0) throw nothingJudged(conversation, period)
    const [found = []] = changes
    const numberOf = await numbersIn(log, found)
    const unrecorded = guard?.unrecorded?.() ?? 0
    const page = { asked: wordsFor(given), conversations, changes: found, numberOf, unrecorded }
    if (json) out.write(`${whatIfJson(page)}\n`)
    else printWhatIf(page, { full }, out)
    return 0
  } finally {
    process?.close()
  }
}

async function trySweep(
  log: OpenLog,
  sweep: Sweep,
  { conversation, filter, json, output, force = false, period }: Given,
  out: NodeJS.WriteStream,
): Promise<0> {
  const found = await whatIf({
    log: readOnly(log),
    contents: contentsOf(sweep),
    only: await selectedIn(log, { conversation, filter }),
    ...period,
    progress: log.progress,
  })
  log.progress.end()
  if (found.conversations === 0) throw nothingJudged(conversation, period)
  const page = sweepPage(sweep, found)
  if (output !== undefined) await writeWhole(output, sweepHtml(page), { force })
  if (json) out.write(`${sweepJson(page)}\n`)
  else printSweep(page, out)
  return 0
}

/** The numbers of turns for people, in the conversations of these turns. */
function numbersIn(log: OpenLog, turns: readonly TurnId[]): Promise<NumberOf> {
  return readTurnNumbers(log, new Set(turns.map(({ conversation }) => conversation)))
}

/** A log without the means to change it. */
export function readOnly({ bus, topicPrefix, partitions, logFile, bundle }: OpenLog): ReadLog {
  const read: ReadLog = { bus: { ends: bus.ends, read: bus.read }, topicPrefix, partitions }
  if (bundle === undefined) {
    const imported =
      logFile === undefined
        ? undefined
        : importedTurnsIn(logFile, topicPrefix + stages.conversation.inbox)
    return {
      ...read,
      turns:
        imported &&
        ((partition, { conversation, turn }) =>
          imported.has(topicPrefix + inboxOf(conversation), partition, turn)),
      beginsAnewAt:
        imported && ((name, partition) => imported.beginsAnewAt(topicPrefix + name, partition)),
    }
  }
  const whole = new Set<string>()
  const nameOf = ({ conversation, turn }: TurnId) => `${turn} ${conversation}`
  for (const turn of bundle.turns()) if (turn.whole) whole.add(nameOf(turn))
  return { ...read, turns: (_, turn) => whole.has(nameOf(turn)), isBundle: true }
}

/** Undefined: all. Throws `conversation.unknown` if none matches. */
async function selectedIn(
  log: OpenLog,
  { conversation, filter }: Pick<Given, 'conversation' | 'filter'>,
): Promise<Set<ConversationId> | undefined> {
  const { since, until, ...conditions } = filter // the time selects records, as before
  const found = isEmptyFilter(conditions) ? undefined : await turnsFound(log, filter)
  if (found === undefined) return conversation === undefined ? undefined : new Set([conversation])
  const selected = [...found.keys()].filter((id) => id === (conversation ?? id))
  if (selected.length > 0) return new Set(selected)
  throw new WeirError('conversation.unknown', 'no conversation matches: nothing to replay')
}

/** Throws `usage`. */
function periodOf({ since, until }: ReplayOptions, now: number): Period {
  const period = {
    since: since === undefined ? undefined : instantOfFlag('--since', since, now),
    until: until === undefined ? undefined : instantOfFlag('--until', until, now),
  }
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until)
    throw usageError(`--since ${since} must be before --until ${until}`)
  return period
}

function wordsFor({ set = [], policy, guard }: Given): string {
  const parts = [
    ...entriesOf(set, { flag: '--set ' }).map(({ key, value }) => `${key}=${value}`),
    ...(policy === undefined ? [] : [`the policy of ${policy}`]),
    ...(guard === undefined ? [] : [`the guard ${guard}`]),
  ]
  return `${parts.join(', ')}${parts.length === 1 ? ' had been' : ' had all been'} in force`
}

/** With --since, some earlier records are read too, for the state of its turns. */
function isNothing({ same, turns, unjudged }: Tally, { since }: Period): boolean {
  return same === 0 || (turns === 0 && (since !== undefined || unjudged > 0))
}

/** An empty stretch of the log is an error: the exit code 0 would call it a good one. */
function nothingJudged(
  conversation: ConversationId | undefined,
  { since, until }: Period,
  tally?: Tally,
): WeirError {
  const isCut = since !== undefined || until !== undefined
  const where = `${conversation === undefined ? '' : ` of a conversation ${JSON.stringify(conversation)}`}${isCut ? ' in that time' : ''}`
  const there = tally === undefined ? [] : thereOf(tally)
  const what =
    there.length === 0
      ? `the log has nothing${where} to judge`
      : `nothing can be judged${where}: ${there.join('; ')}`
  return new WeirError(
    'replay.nothing',
    `${what}${since === undefined ? '' : '. --since selects turns by their beginning'}`,
  )
}

/** The records that were read, with the reasons why they could not be compared. */
function thereOf({ same, unjudged, awaited, deleted }: Tally): string[] {
  return [
    ...(same > 0
      ? [`no turn began there, and ${count(same, 'record')} belong to earlier turns`]
      : []),
    ...(unjudged > 0 ? [`${count(unjudged, 'record')} of units whose beginning is missing`] : []),
    ...(awaited > 0
      ? [
          `${count(awaited, 'record')} not in the log yet, because a stage is behind or the range ends there`,
        ]
      : []),
    ...(deleted > 0 ? [`${count(deleted, 'record')} no longer in the log`] : []),
  ]
}
