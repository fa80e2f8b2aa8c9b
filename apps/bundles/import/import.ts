// `weir import FILE` writes a bundle as the log of an embedded bus into a new data folder, where
// its conversations can go on.
// IMPORT-1. Offsets, times and ids stay, so recorded addresses stay valid. The folder must have no
//     log: turn numbers, derived ids, history keys and commits contain offsets.
// IMPORT-2. Unfinished work stays unfinished. Each stage has a commit after all records: it must
//     not request a model or start a tool again.
// IMPORT-3. A conversation keeps its memory, such as message ids: it is folded again from the
//     beginning of the import. Exception: its partition has an open turn (IMPORT-2).

import { existsSync } from 'node:fs'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { type Bundle, refuseCutTurns } from '../../../shared/bus/bundle/bus.ts'
import type { GroupCommit } from '../../../shared/bus/embedded/log-commits.ts'
import type { LocalBus } from '../../../shared/bus/kind.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { retentionMsOf } from '../../../shared/contract/retention.ts'
import {
  guardTopicName,
  guardTopicSpec,
  stageNames,
  stages,
  topicSpecs,
} from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { toCommit } from '../../../shared/runtime/position.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { endsOf, type OpenLog, withBundle } from '../../history/open-log.ts'
import { listenForInterrupts } from '../../terminal/interrupts.ts'
import { count } from '../../terminal/quantities.ts'

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
    throw new WeirError(
      'usage',
      `weir import writes a log of the embedded bus, because ${kind.title} assigns offsets itself. Remove --bus ${settings.bus}`,
    )
  const log = kind.logFile(settings)
  if (existsSync(log))
    throw new WeirError(
      'output.exists',
      `${log} already exists, and was not changed. An import needs its offsets free: name an empty or a new folder (--data-folder). ` +
        'You can also read the bundle itself with weir inspect, report, judge and replay',
    )
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
  const retentionMs = retentionMsOf(settings.retention)
  const guardPrefix = guardTopicName('')
  const guards = bundle
    .topics()
    .flatMap(({ name }) => (name.startsWith(guardPrefix) ? [name.slice(guardPrefix.length)] : []))
  const own = topicSpecs(topicPrefix, partitions, retentionMs)
  const ofGuards = guards.map((guard) =>
    guardTopicSpec(topicPrefix, guard, partitions, retentionMs),
  )
  const topics = [...own, ...ofGuards.filter(({ name }) => !own.some((one) => one.name === name))]
  const batches = recordsOf(log, bundle, signal)
  const events = await endsOf(log, stages.conversation.inbox)
  const from = events.map(({ partition, end }) => ({ partition, offset: end }))
  const whole = [...bundle.turns()].filter((turn) => turn.whole)
  await kind.importLog({
    file,
    clock: systemClock,
    topics,
    batches,
    commits: await commitsBehind(bundle),
    turns: { whole, from },
  })
  const open = [...bundle.turns()].filter(({ outcome }) => outcome === 'open').length
  return [
    `${count(facts.records, 'record')} with their offsets and times, in ${count(partitions, 'partition')} with the prefix '${topicPrefix}'`,
    ...(open === 0 ? [] : [`; ${count(open, 'turn')} had not ended and will not go on`]),
  ].join('')
}

async function* recordsOf(
  log: OpenLog,
  bundle: Bundle,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord[]> {
  log.progress.expect(bundle.facts.records)
  for (const { name } of bundle.topics()) {
    const topic = log.topicPrefix + name
    for (const { partition, begin, end } of await log.bus.ends(topic))
      for await (const records of batchesOf(log.bus, { topic, partition, from: begin, to: end })) {
        await othersTurn() // lets Ctrl-C through
        signal.throwIfAborted()
        log.progress.read(records.length)
        yield records
      }
  }
}

/** Keeps IMPORT-2 and IMPORT-3. */
async function commitsBehind({
  bus,
  facts: { topicPrefix },
  topics,
  turns,
}: Bundle): Promise<GroupCommit[]> {
  const open = new Set(
    [...turns()].filter(({ outcome }) => outcome === 'open').map(({ partition }) => partition),
  )
  const commits: GroupCommit[] = []
  const there = new Set(topics().map(({ name }) => name))
  for (const stage of stageNames.filter((name) => there.has(stages[name].inbox))) {
    const topic = topicPrefix + stages[stage].inbox
    for (const { partition, begin, end } of await bus.ends(topic)) {
      const from = stage === 'conversation' && !open.has(partition) ? begin : end
      const { offset, metadata } = toCommit({ done: end, from, marks: {} })
      commits.push({ group: topicPrefix + stage, topic, partition, offset, metadata })
    }
  }
  return commits
}
