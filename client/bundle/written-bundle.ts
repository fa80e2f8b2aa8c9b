// Writes conversations, or a stretch of time, of a log into one file: a bundle to keep, send, inspect
// and replay. `weir export` and a program write the same.

import { bundlePartitionsMax } from '../../shared/bus/bundle/bounds.ts'
import type { BundleWriter } from '../../shared/bus/bundle/writer.ts'
import { typeIn } from '../../shared/codec/codec.ts'
import { letterCodec, messageOf } from '../../shared/codec/message-of.ts'
import type { Bus, StoredRecord } from '../../shared/contract/bus.ts'
import { historyConversation } from '../../shared/contract/history/history-keys.ts'
import type { RedactRule } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { originKey } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { usageError, type WeirError } from '../../shared/lib/errors.ts'
import {
  distinctRules,
  redactionRules,
  rulesIn,
} from '../../shared/runtime/redaction/agent-redaction.ts'
import { createRedaction } from '../../shared/runtime/redaction/redaction.ts'
import type { RedactionRule } from '../../shared/runtime/redaction/redaction-rule.ts'
import { isEmptyFilter } from '../../shared/view/filter/turn-filter.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { scan } from '../history/scan.ts'
import { copySelection } from './copy.ts'
import { learningSink, plainSink, redactingSink } from './record-sinks.ts'
import { type ExportFilter, type Selection, selectionIn } from './selection.ts'
import { createTurnTally, type TurnTally } from './turn-tally.ts'

export type BundleOrder = {
  filter: ExportFilter
  /** Next to the rules of the agents. */
  rules: RedactionRule[]
  /** The rules of the agents do not count. */
  unredacted?: boolean | undefined
  bundle: BundleWriter
  /** The name of the log's bus. */
  source: string
  /** The conditions as the reader of the bundle is to see them: JSON. */
  asked: string
  signal: AbortSignal
  /** The error if no turn matches. */
  nothingFound: (selection: Selection) => WeirError
}

/**
 * `openTurns`: of those, the turns that had not ended. `cutTurns`: of those, the turns whose
 * beginning the log no longer has. `leftOut`: records that are unreadable, or that a redaction
 * cannot keep. `isRedacted`: rules of agents or of a file replaced values.
 */
export type BundleContent = {
  conversations: number
  turns: number
  records: number
  openTurns: number
  cutTurns: number
  leftOut: number
  isRedacted: boolean
}

/** Fills and finishes the bundle. Undefined: `signal` aborted, and it is not finished. */
export async function writeBundle(
  log: ReadableLog,
  { filter, rules: given, unredacted, bundle, source, asked, signal, nothingFound }: BundleOrder,
): Promise<BundleContent | undefined> {
  const selection = await selectionIn(log, filter, signal)
  if (log.partitions > bundlePartitionsMax)
    throw usageError(
      `the topics have ${log.partitions} partitions, and a bundle can have ${bundlePartitionsMax}: such a log cannot be exported`,
    )
  const rules =
    unredacted === true ? given : [...given, ...(await rulesInLog(log, selection, signal))]
  const tally = createTurnTally(log.partitions)
  const leftOut = await copied({ log, selection, bundle, tally, rules, signal })
  if (signal.aborted) return undefined
  const turns = tally.turns()
  const forks = turns.length === 0 ? await forksAmong(log, filter) : 0
  if (turns.length === 0 && forks === 0) throw nothingFound(selection)
  for (const turn of turns) bundle.turn(turn)
  const facts = {
    madeAt: new Date(systemClock.now()).toISOString(),
    source: log.bundle?.facts.source ?? source,
    topicPrefix: log.topicPrefix,
    partitions: log.partitions,
    asked,
    redaction: redactionOf(log, rules),
  }
  await bundle.finish(facts, signal)
  return {
    conversations: forks || new Set(turns.map(({ conversation }) => conversation)).size,
    turns: turns.length,
    records: bundle.records,
    openTurns: turns.filter(({ outcome }) => outcome === 'open').length,
    cutTurns: turns.filter(({ whole }) => !whole).length,
    leftOut,
    isRedacted: rules.length > 0,
  }
}

/** The number of forks that the filter names. A fork without an own turn has its origins only. */
async function forksAmong(
  { bus, topicPrefix, partitions }: ReadableLog,
  { conversations, where }: ExportFilter,
): Promise<number> {
  if (!isEmptyFilter(where)) return 0
  let count = 0
  for (const id of conversations) {
    const place = { topic: `${topicPrefix}history`, partition: partitionOf(id, partitions) }
    const record = await bus.get({ ...place, key: originKey(id), waitMs: 0 })
    if (record !== undefined) count += 1
  }
  return count
}

/** Includes the redaction of the source bundle. */
function redactionOf({ bundle }: ReadableLog, rules: RedactionRule[]): string | null {
  const names = [...(bundle?.facts.redaction?.split(', ') ?? []), ...rules.map(({ name }) => name)]
  return names.length === 0 ? null : names.join(', ')
}

type Copied = {
  log: ReadableLog
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
  const redaction = createRedaction(rules, { letters: letterCodec })
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
function ending(log: ReadableLog): ReadableLog {
  const known = new Map<string, ReturnType<Bus['ends']>>()
  const ends = (topic: string) => {
    const found = known.get(topic) ?? log.bus.ends(topic)
    known.set(topic, found)
    return found
  }
  return { ...log, bus: { ...log.bus, ends } }
}

/**
 * A bundle has the rules of all its agents, because a value of one conversation can be in another.
 * Equal values get equal replacements, so loops stay loops in a replay.
 */
async function rulesInLog(
  log: ReadableLog,
  { partitions, stretchOf }: Selection,
  signal: AbortSignal,
): Promise<RedactionRule[]> {
  const found: RedactRule[] = []
  for (const partition of partitions)
    for (const topic of ['history', 'conversation-events', 'guest-events'] as const)
      for await (const records of scan(log, { topic, partition })) {
        if (signal.aborted) return []
        for (const record of records)
          if (stretchOf(conversationOf(topic, record)) !== undefined) found.push(...rulesOf(record))
        found.splice(0, found.length, ...distinctRules(found))
      }
  return redactionRules(found, 'pseudonym')
}

function conversationOf(topic: string, { key }: StoredRecord): string {
  return topic === 'history' ? (historyConversation(key) ?? '') : key
}

/** Every round has its history, and messages that wait for their turn have their own rules. */
const carriers = new Set(['history-entry', 'user-message', 'guest-round'])

function rulesOf({ value }: StoredRecord): readonly RedactRule[] {
  if (value === null || !carriers.has(typeIn(value) ?? '')) return []
  const message = messageOf(value)
  return message === undefined ? [] : rulesIn(message)
}
