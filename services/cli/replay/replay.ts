// `weir replay`: every stage's decisions again, from the log alone, compared with what was written; or, with another policy or a further guard, what would
// have been decided otherwise. No model, no tool: nothing that this file imports can reach one.
// Exit codes: 0 the same, or what was asked is told; 1 something differs; 2 trouble.

import { writeFileSync } from 'node:fs'
import { WeirError } from '../../../shared/errors.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { OpenLog } from '../open-log.ts'
import { withLog } from '../open-log.ts'
import { instantOfFlag } from '../tail/instant-text.ts'
import type { Period, ReadLog } from './log-range.ts'
import { printReplayed, replayedJson } from './print-replayed.ts'
import { printWhatIf, whatIfJson } from './print-what-if.ts'
import { replayLog } from './replay-log.ts'
import { printSweep, sweepJson, sweepPage, sweepSvg } from './sweep.ts'
import type { Sweep } from './what-if/asked.ts'
import { contentOf, contentsOf, sweepOf } from './what-if/asked.ts'
import { whatIf } from './what-if/what-if.ts'

export type ReplayOptions = {
  conversation?: string
  since?: string
  until?: string
  set?: string[]
  policy?: string
  guard?: string
  sweep?: string
  output?: string
  full?: boolean
  json?: boolean
}

type Asked = Omit<ReplayOptions, 'since' | 'until' | 'sweep'> & { period: Period; isKafka: boolean }

/** `bundle`: a file of weir export; undefined: the log that the settings name. Resolves to the exit code. */
export async function replay(
  bundle: string | undefined,
  options: ReplayOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { since, until, sweep, ...rest } = options
  const asked: Asked = { ...rest, period: periodOf(options, Date.now()), isKafka: bundle === undefined && settings.bus === 'kafka' }
  if (options.output !== undefined && sweep === undefined) throw new WeirError('usage', '--output is the plot of a --sweep: give that too')
  if (sweep !== undefined) {
    if (options.set !== undefined || options.policy !== undefined || options.guard !== undefined)
      throw new WeirError('usage', '--sweep tries one threshold by itself: give it without --set, --policy and --guard')
    const swept = sweepOf(sweep)
    return withLog(settings, (log) => trySweep(log, swept, asked, out), { bundle })
  }
  if (options.set !== undefined || options.policy !== undefined || options.guard !== undefined) {
    const content = contentOf(options)
    return withLog(settings, (log) => tryWhatIf(log, content, asked, out), { bundle })
  }
  return withLog(settings, (log) => compare(log, asked, out), { bundle })
}

async function compare(
  log: OpenLog,
  { conversation, json, full = false, period, isKafka }: Asked,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { progress } = log
  // Of the embedded bus a step is written whole, so there nothing is on its way.
  const replayed = await replayLog({ log: readOnly(log), conversation, ...period, grows: isKafka, now: log.bus.clock.now(), progress })
  progress.end()
  const { same, unjudged } = replayed.tally
  if (conversation !== undefined && same + unjudged + replayed.differences === 0) throw nothingOf(conversation)
  if (json) out.write(`${replayedJson(replayed)}\n`)
  else printReplayed(replayed, { full, isRedacted: log.bundle?.facts.redaction != null }, out)
  return replayed.differences === 0 ? 0 : 1
}

async function tryWhatIf(log: OpenLog, content: ReturnType<typeof contentOf>, asked: Asked, out: NodeJS.WriteStream): Promise<0> {
  const { conversation, json, full = false, period } = asked
  const guard = asked.guard === undefined ? undefined : await (await import('./guard/guard-process.ts')).startGuardProcess(asked.guard)
  try {
    const { changes, conversations } = await whatIf({
      log: readOnly(log),
      contents: [content],
      guard,
      conversation,
      ...period,
      progress: log.progress,
    })
    log.progress.end()
    if (conversation !== undefined && conversations === 0) throw nothingOf(conversation)
    const page = { asked: wordsFor(asked), conversations, changes: changes[0] ?? [] }
    if (json) out.write(`${whatIfJson(page)}\n`)
    else printWhatIf(page, { full }, out)
    return 0
  } finally {
    guard?.close()
  }
}

async function trySweep(log: OpenLog, sweep: Sweep, { conversation, json, output, period }: Asked, out: NodeJS.WriteStream): Promise<0> {
  const found = await whatIf({ log: readOnly(log), contents: contentsOf(sweep), conversation, ...period, progress: log.progress })
  log.progress.end()
  if (conversation !== undefined && found.conversations === 0) throw nothingOf(conversation)
  const page = sweepPage(sweep, found)
  if (output !== undefined) writePlot(output, sweepSvg(page))
  if (json) out.write(`${sweepJson(page)}\n`)
  else printSweep(page, out)
  return 0
}

/** What a replay sees of a log: nothing by which it could change it. */
function readOnly({ bus, topicPrefix, partitions, bundle }: OpenLog): ReadLog {
  const read: ReadLog = { bus: { ends: bus.ends, read: bus.read }, topicPrefix, partitions }
  if (bundle === undefined) return read
  const whole = new Set<string>()
  for (const { partition, turn, whole: isWhole } of bundle.turns()) if (isWhole) whole.add(`${partition}/${turn}`)
  return { ...read, turns: (partition, turn) => whole.has(`${partition}/${turn}`) }
}

/** Throws `usage`. */
function periodOf({ since, until }: ReplayOptions, now: number): Period {
  const period = {
    since: since === undefined ? undefined : instantOfFlag('--since', since, now),
    until: until === undefined ? undefined : instantOfFlag('--until', until, now),
  }
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until)
    throw new WeirError('usage', `--since ${since} is not before --until ${until}: there is nothing between them`)
  return period
}

function wordsFor({ set = [], policy, guard }: Asked): string {
  const parts = [
    ...set,
    ...(policy === undefined ? [] : [`the policy of ${policy}`]),
    ...(guard === undefined ? [] : [`the guard ${guard}`]),
  ]
  return `${parts.join(', ')}${parts.length === 1 ? ' had been' : ' had all been'} in force`
}

function nothingOf(conversation: string): WeirError {
  return new WeirError('conversation.unknown', `the log has nothing of a conversation ${JSON.stringify(conversation)} in that time`)
}

function writePlot(file: string, svg: string): void {
  try {
    writeFileSync(file, svg)
  } catch (cause) {
    throw unwritable(file, cause)
  }
}

function unwritable(file: string, cause: unknown): WeirError {
  return new WeirError('usage', `--output ${file} cannot be written: ${(cause as Error).message}`, { cause })
}
