// `weir import FILE` writes a bundle as the log of an embedded bus into a new data folder, where
// its conversations can go on.
// Offsets, times and ids stay, so recorded addresses stay valid. The folder must have no
// log: turn numbers, derived ids, history keys and commits contain offsets.
// Unfinished work stays unfinished. Each stage begins after all records, and the bundle's
// tables do not count. So a conversation forgets its message ids, and keeps its history.
// A message without an end is left out, by a fold of the records. Its offset stays used.
// The log is marked as imported. Stages run on it only if a person allows it.

import { existsSync } from 'node:fs'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { endsOf } from '../../../client/history/readable-log.ts'
import { type Bundle, refuseCutTurns } from '../../../shared/bus/bundle/bus.ts'
import type { GroupCommit } from '../../../shared/bus/embedded/log/log-commits.ts'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { guardTopicSpec, keptBy, topicSpecs } from '../../../shared/contract/retention.ts'
import {
  guardTopicName,
  inboxOf,
  isGuest,
  stageNames,
  stages,
} from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../../shared/lib/errors.ts'
import { claimFolder } from '../../../shared/lib/files/folder-owner.ts'
import { toCommit } from '../../../shared/runtime/log/position.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type OpenLog, withBundle } from '../../history/open-log.ts'
import { listenForInterrupts } from '../../terminal/interrupts.ts'
import { count } from '../../terminal/text/quantities.ts'
import { type Unfinished, unfinishedIn } from './unfinished.ts'

/**
 * Resolves to the exit code. 130: stopped by Ctrl-C, and nothing was written. Throws `usage`,
 * `bundle.*`, `output.exists`, `bus.unwritable`.
 */
export async function importBundle(
  file: string,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 130> {
  const kind = busKindOf(settings)
  if (!kind.isLocal)
    throw usageError(
      `weir import writes a log of the embedded bus, because ${kind.title} assigns offsets itself. Remove --bus ${settings.bus}`,
    )
  const log = kind.logFile(settings)
  if (existsSync(log))
    throw new WeirError(
      'output.exists',
      `${log} already exists, and was not changed. An import needs its offsets free: name an empty or a new folder (--data-folder). ` +
        'You can also read the bundle itself with weir inspect, report, judge and replay',
    )
  const unclaim = claimFolder(settings.dataFolder)
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  try {
    const summary = await withBundle(
      file,
      (open) => write(open, { kind, file: log }, settings, stop.signal),
      stop.signal,
    )
    out.write(`${log}: ${summary}\n`)
    return 0
  } catch (error) {
    unclaim()
    if (!stop.signal.aborted) throw error
    process.stderr.write('stopped: nothing was written\n')
    return 130
  } finally {
    stopListening()
  }
}

async function write(
  log: OpenLog,
  { kind, file }: { kind: LocalBus; file: string },
  settings: Settings,
  signal: AbortSignal,
): Promise<string> {
  const bundle = log.bundle as Bundle
  refuseCutTurns(bundle)
  const { facts } = bundle
  const { topicPrefix, partitions } = facts
  const { retentionMs, auditMs } = keptBy(settings)
  const guardPrefix = guardTopicName('')
  const guards = bundle
    .topics()
    .flatMap(({ name }) => (name.startsWith(guardPrefix) ? [name.slice(guardPrefix.length)] : []))
  const own = topicSpecs(topicPrefix, partitions, retentionMs, auditMs)
  const ofGuards = guards.map((guard) =>
    guardTopicSpec(topicPrefix, guard, partitions, retentionMs),
  )
  const topics = [...own, ...ofGuards.filter(({ name }) => !own.some((one) => one.name === name))]
  log.progress.expect(facts.records)
  const unfinished = await unfinishedIn(log, signal)
  const batches = recordsOf(log, bundle, { unfinished, signal })
  const inboxes = [stages.conversation.inbox, stages.guest.inbox]
  const from = await Promise.all(
    inboxes.map(async (inbox) =>
      (await endsOf(log, inbox)).map(({ partition, end }) => ({
        topic: topicPrefix + inbox,
        partition,
        offset: end,
      })),
    ),
  )
  const whole = [...bundle.turns()]
    .filter(
      ({ whole, partition, turn, conversation }) =>
        whole && (isGuest(conversation) || unfinished.get(partition)?.turns.has(turn) !== true),
    )
    .map(({ conversation, partition, turn }) => ({
      topic: topicPrefix + inboxOf(conversation),
      partition,
      turn,
    }))
  await kind.importLog({
    file,
    clock: systemClock,
    topics,
    batches,
    commits: await commitsBehind(bundle),
    note: { whole, from: from.flat() },
  })
  const leftOut = [...unfinished.values()].reduce((sum, { messages }) => sum + messages.size, 0)
  return [
    `${count(facts.records - leftOut, 'record')} with their offsets and times, in ${count(partitions, 'partition')} with the prefix '${topicPrefix}'`,
    ...(leftOut === 0
      ? []
      : [`; left out: ${count(leftOut, 'message')} without an end, which will not go on`]),
    '. The log is marked as imported: stages run on it only with --run-imported',
  ].join('')
}

async function* recordsOf(
  log: OpenLog,
  bundle: Bundle,
  { unfinished, signal }: { unfinished: ReadonlyMap<number, Unfinished>; signal: AbortSignal },
): AsyncGenerator<StoredRecord[]> {
  const timeMax = systemClock.now() + aheadMsMax
  for (const { name } of bundle.topics()) {
    const topic = log.topicPrefix + name
    for (const { partition, begin, end } of await log.bus.ends(topic))
      for await (const records of batchesOf(log.bus, { topic, partition, from: begin, to: end })) {
        await othersTurn() // lets Ctrl-C through
        signal.throwIfAborted()
        log.progress.read(records.length)
        refuseFuture(bundle.file, records, timeMax)
        yield name === stages.conversation.inbox
          ? records.filter(({ offset }) => unfinished.get(partition)?.messages.has(offset) !== true)
          : records
      }
  }
}

/** Clocks of two machines differ by less. */
const aheadMsMax = 24 * 60 * 60 * 1000

/** Times of a log never go back, so one record would give its time to all later ones. */
function refuseFuture(file: string, records: readonly StoredRecord[], timeMax: number): void {
  const late = records.find(({ time }) => time > timeMax)
  if (late === undefined) return
  const { topic, partition, offset, time } = late
  throw new WeirError(
    'bundle.invalid',
    `${file}: the record ${topic}/${partition}/${offset} has the time ${new Date(time).toISOString()}, more than a day ahead of this machine's clock, and later records of the log could not be older. Set the clock, or read the bundle itself`,
  )
}

async function commitsBehind({
  bus,
  facts: { topicPrefix },
  topics,
}: Bundle): Promise<GroupCommit[]> {
  const commits: GroupCommit[] = []
  const there = new Set(topics().map(({ name }) => name))
  for (const stage of stageNames.filter((name) => there.has(stages[name].inbox))) {
    const topic = topicPrefix + stages[stage].inbox
    for (const { partition, end } of await bus.ends(topic)) {
      const { offset, metadata } = toCommit({ done: end, from: end, marks: {} })
      commits.push({ group: topicPrefix + stage, topic, partition, offset, metadata })
    }
  }
  return commits
}
