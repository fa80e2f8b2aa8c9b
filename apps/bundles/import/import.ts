// `weir import FILE`: a bundle as the log of an embedded bus, in a data folder that has none. So
// what happened elsewhere can be gone on with here.
// IMPORT-IMPORT-1. Offsets, times and ids stay as they were, so every address that somebody wrote
//     down is still right. That is why the folder has no log yet: the number of a turn, the id of
//     each derived record, the keys of the history and the commits of stages are made of offsets,
//     so nothing can move to where it is free; and where offsets are free behind what is there,
//     stages have committed or must still read, between records of other turns.
// IMPORT-IMPORT-2. Nothing that was under way goes on: each stage has a commit behind all records,
//     or it would ask models and start tools again.
// IMPORT-IMPORT-3. A conversation goes on with what it remembers, such as the ids of its messages:
//     it is folded again from the beginning of the import. Not so where one of its partition had an
//     open turn: that would go on with it (IMPORT-IMPORT-2).

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
 * Resolves to the exit code; 130: stopped by Ctrl-C, and nothing was written. Throws `usage`,
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
      `weir import makes a log of the embedded bus: a topic of ${kind.title} cannot be given offsets. Leave --bus ${settings.bus} out`,
    )
  const log = kind.logFile(settings)
  if (existsSync(log))
    throw new WeirError(
      'output.exists',
      `${log} is there already, and was left as it is: what a bundle holds keeps its offsets, and there they are taken. Name an empty or a new folder ` +
        `(--data-folder); or leave it a bundle: weir inspect, report, judge and replay read it as it is`,
    )
  const stop = new AbortController()
  const stopListening = listenForInterrupts(() => stop.abort())
  try {
    const told = await withBundle(
      file,
      (open) => write(open, { kind, file: log }, settings, stop.signal),
      stop.signal,
    )
    out.write(`${log}: ${told}\n`)
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
    ...(open === 0
      ? []
      : [
          `; ${count(open, 'turn')} had not ended, and nobody goes on with ${open === 1 ? 'it' : 'them'}`,
        ]),
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
        await othersTurn() // or Ctrl-C would not be heard
        signal.throwIfAborted()
        log.progress.read(records.length)
        yield records
      }
  }
}

/** Keeps IMPORT-IMPORT-2 and IMPORT-IMPORT-3. */
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
