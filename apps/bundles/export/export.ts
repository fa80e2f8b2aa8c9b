// `weir export -o FILE`: conversations, or what happened in a stretch of time, as one file to keep,
// to mail, to look into and to replay. Only where its exit code is 0 there is a file.

import type { BundleWriter } from '../../../shared/bus/bundle/writer.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listingCommand } from '../../history/conversations/listing-command.ts'
import { type OpenLog, withLog } from '../../history/open-log.ts'
import { printable } from '../../terminal/printable.ts'
import { count } from '../../terminal/quantities.ts'
import { makeBundle } from '../make-bundle.ts'
import { type Chosen, chosenIn } from './chosen.ts'
import { copyChosen } from './copy.ts'
import { createRedaction } from './redaction.ts'
import { type RedactionRule, readRedactionRules } from './redaction-rules.ts'
import { learningTaker, plainTaker, redactingTaker } from './takers.ts'
import { createTurnTally, type TurnTally } from './turn-tally.ts'
import { type Wanted, type WantedOptions, wantedOf } from './wanted.ts'

/** `redact`: a file of rules. `bundle`: exports from this one, in the place of the log. */
export type ExportOptions = WantedOptions & {
  output: string
  force?: boolean
  redact?: string
  bundle?: string
}

/** Throws `usage`, `output.*`, `conversation.unknown` where nothing is as it was asked for. */
export async function exportBundle(
  options: ExportOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 130> {
  const { output, redact } = options
  const wanted = wantedOf(options, systemClock.now())
  const rules = redact === undefined ? [] : readRedactionRules(redact)
  return makeBundle(options, out, async (bundle, signal) => {
    const writing = { wanted, rules, bundle, options, settings, signal }
    const told = await withLog(settings, (log) => write(log, writing), {
      bundle: options.bundle,
      signal,
    })
    return told === undefined ? undefined : `${output}: ${told}\n`
  })
}

type Writing = {
  wanted: Wanted
  rules: RedactionRule[]
  bundle: BundleWriter
  options: ExportOptions
  settings: Settings
  signal: AbortSignal
}

/** What to say of it; undefined: it was stopped. */
async function write(
  log: OpenLog,
  { wanted, rules, bundle, options, settings, signal }: Writing,
): Promise<string | undefined> {
  const chosen = await chosenIn(log, wanted, signal)
  const tally = createTurnTally(log.partitions)
  const leftOut = await copied({ log, chosen, bundle, tally, rules, signal })
  if (signal.aborted) return undefined
  const turns = tally.turns()
  if (turns.length === 0) throw nothingFound(options, chosen)
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
    ...(cut > 0 ? [`; the log has no longer got the beginning of ${count(cut, 'turn')}`] : []),
    ...(rules.length > 0 ? ['; redacted, so a replay may decide otherwise than the log'] : []),
    ...(leftOut > 0
      ? [
          `; left out, because they cannot be read or nobody waited for them: ${count(leftOut, 'record')}`,
        ]
      : []),
  ].join('')
}

/** What was gone already stays gone. */
function redactionOf({ bundle }: OpenLog, rules: RedactionRule[]): string | null {
  const names = [...(bundle?.facts.redaction?.split(', ') ?? []), ...rules.map(({ name }) => name)]
  return names.length === 0 ? null : names.join(', ')
}

type Copied = {
  log: OpenLog
  chosen: Chosen
  bundle: BundleWriter
  tally: TurnTally
  rules: RedactionRule[]
  signal: AbortSignal
}

/** The number of records that had to be left out. */
async function copied({ log, chosen, bundle, tally, rules, signal }: Copied): Promise<number> {
  if (rules.length === 0) {
    await copyChosen({ log, chosen, taker: plainTaker(bundle, tally), signal })
    return 0
  }
  const redaction = createRedaction(rules)
  const learning = learningTaker(redaction)
  const still = ending(log)
  await copyChosen({ log: still, chosen, taker: learning, signal })
  learning.finish()
  const taker = redactingTaker(bundle, tally, redaction)
  await copyChosen({ log: still, chosen, taker, signal })
  taker.finish()
  return taker.leftOut
}

/**
 * The log up to where it ends when it is first asked: what came between two readings would be
 * copied, and nobody would have learned from it.
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

function nothingFound({ conversation = [], bundle }: ExportOptions, { others }: Chosen): WeirError {
  const which =
    conversation.length > 0
      ? `conversation ${conversation.map((id) => printable(id)).join(', ')}`
      : 'any conversation'
  const there = [...others].map(([key, values]) =>
    values.size === 0 ? `no ${key}` : `${key} ${printable([...values].join(', '))}`,
  )
  const has = there.length === 0 ? '' : `; the turns there have ${there.join(' and ')}`
  return new WeirError(
    'conversation.unknown',
    `the log has no turn of ${which} that is as you asked${has}: ${listingCommand(bundle)} shows what there is`,
  )
}
