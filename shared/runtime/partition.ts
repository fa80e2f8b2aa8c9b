// An assigned partition of a stage's inbox: fold, outputs, commit, ticks and performer, from
// assignment to loss.
// Records before the committed offset only build state. Their outputs were
// acknowledged before that commit (R1).
// Performers act, and ticks are written, only after the state has caught up with
// the log's end at the assignment. All outputs but activity are acknowledged, or the stage acts ahead.

import type { Logger } from 'pino'
import { batchesOf } from '../bus/range.ts'
import { codec } from '../codec/codec.ts'
import type {
  Assignment,
  Bus,
  PartitionReader,
  RecordToAppend,
  Step,
  StoredRecord,
} from '../contract/bus.ts'
import type { Message } from '../contract/messages.ts'
import { partitionsOf } from '../contract/partition.ts'
import type { Performer } from '../contract/performer.ts'
import type { Output, Stage } from '../contract/stage.ts'
import { WeirError } from '../lib/errors.ts'
import { type Applied, createFold } from './fold.ts'
import type { Instruments, PartitionInstrument } from './instruments.ts'
import { createInputEnds } from './log/input-ends.ts'
import { positionAt, toCommit } from './log/position.ts'
import { createTicker } from './ticker.ts'

export type PartitionOptions<State, In extends Message, Task> = {
  bus: Bus
  stage: Stage<State, In, Task>
  topicPrefix: string
  /** The number of partitions of every topic. Undefined: not checked. */
  partitions?: number | undefined
  assignment: Assignment
  performer: Performer<Task> | undefined
  /** Called for each output of the reducer, once it is acknowledged. Only for logs. */
  observed: ((output: Output) => void) | undefined
  instruments?: Instruments | undefined
  log: Logger
}

const foreignCommit =
  "the group's commit has no metadata of Weir, so another tool set it: the state is folded from the begin of the log, and repeated records are not recognised before it"

const nothingRead: Step = { outputs: [], commit: undefined }

/** Throws `bus.commit-outside-log` if folding cannot start at the committed position. */
export function readPartition<State, In extends Message, Task>(
  options: PartitionOptions<State, In, Task>,
): PartitionReader {
  const { bus, stage, assignment, performer, observed, instruments, log } = options
  const { topic } = assignment
  const activity = `${options.topicPrefix}activity`
  const { partition, end } = assignment.ends
  const { done, from, marks, refused } = positionAt(assignment)
  const inputs = createInputEnds({ bus, topicPrefix: options.topicPrefix, topic, partition, log })
  if (assignment.committed?.metadata === '')
    log.warn({ topic, partition, done, from }, foreignCommit)
  const fold = createFold({
    stage,
    partition,
    ...codec,
    partitions: options.partitions === undefined ? undefined : partitionsOf(options.partitions),
    topicPrefix: options.topicPrefix,
    marks,
    readBack: (from, to) => batchesOf(bus, { topic, partition, from, to }),
    judge: ({ refused }, id) =>
      refused === undefined
        ? id && inputs.refusalOf(id)
        : new WeirError('record.unsigned', refused),
    judged: { to: done, refused },
  })
  const ticker = createTicker({
    bus,
    stage,
    topic,
    partition,
    units: fold.units,
    onTicks: (ticks) => instruments?.observed(stage.name, ticks),
    log,
  })
  const touched = new Set<string>()
  let position = from
  let acting = false
  let isClosed = false
  const instrument = instruments?.assigned({
    stage: stage.name,
    topic,
    partition,
    from,
    done,
    end,
    units: fold.units,
    hasCaughtUp: () => acting,
  })
  const report = observed || instrument ? createStepReport(observed, instrument) : undefined

  if (position >= end) act()

  return {
    position: from,

    async read(records) {
      const lookingUp = inputs.lookUp(records)
      if (lookingUp !== undefined && (await lookingUp) === 'closed') return nothingRead
      const step: RecordToAppend[] = []
      for (const record of records) {
        const applying = fold.apply(record)
        const applied = applying instanceof Promise ? await applying : applying
        position = record.offset + 1
        if (applied.unit !== undefined) touched.add(applied.unit)
        if (record.offset < done) continue
        step.push(...applied.records)
        logDeadLetters(applied.outputs, log)
        report?.applied(applied)
      }
      report?.read(records, step)
      return {
        outputs: step,
        commit: position < done ? undefined : toCommit(fold.position(position)),
        allowsAhead:
          step.length > 0 &&
          (stage.actsAhead === true || step.every((output) => output.topic === activity)),
      }
    },

    goAhead() {
      if (!acting) return
      reconcile(touched)
      touched.clear()
    },

    acknowledged() {
      report?.acknowledged()
      if (acting) reconcileAcknowledged(touched)
      else if (position >= end) act()
      touched.clear()
    },

    passed(behind) {
      position = Math.max(position, behind)
      if (!acting && position >= end) act()
    },

    async close(how) {
      isClosed = true
      inputs.close()
      ticker.stop()
      instrument?.closed()
      await performer?.close(how)
    },
  }

  /** The state has caught up, so this owner acts from here on. */
  function act(): void {
    acting = true
    reconcileAcknowledged(fold.units.keys())
  }

  function reconcileAcknowledged(keys: Iterable<string>): void {
    reconcile(keys)
    if (!isClosed) performer?.acknowledged?.()
  }

  function reconcile(keys: Iterable<string>): void {
    if (isClosed) return
    for (const key of keys) {
      const unit = fold.units.get(key)
      performer?.reconcile(key, unit === undefined ? [] : stage.wants(unit.state))
      ticker.moved(key, unit)
    }
  }
}

/** Steps that are not acknowledged yet, for logs and metrics. */
function createStepReport(
  observed: ((output: Output) => void) | undefined,
  instrument: PartitionInstrument | undefined,
) {
  const nothing = () => ({
    read: [] as StoredRecord[],
    repeats: 0,
    outputs: [] as Output[],
    written: [] as RecordToAppend[],
  })
  let pending = nothing()

  return {
    applied({ outputs, isRepeat }: Applied): void {
      pending.outputs.push(...outputs)
      if (isRepeat) pending.repeats += 1
    },
    read(records: readonly StoredRecord[], written: RecordToAppend[]): void {
      if (instrument === undefined) return
      pending.read.push(...records)
      pending.written.push(...written)
    },
    acknowledged(): void {
      const step = pending
      pending = nothing()
      if (observed) for (const output of step.outputs) observed(output)
      instrument?.acknowledged(step)
    },
  }
}

/** Operators look at the log first, so it names each dead letter (R8). The topic has the bytes. */
function logDeadLetters(outputs: Output[], log: Logger): void {
  for (const { message } of outputs) {
    if (message.type !== 'dead-letter') continue
    const { topic, partition, offset, code, reason } = message
    log.error(
      { topic, partition, offset, code, reason },
      'a record could not be applied and went to dead-letters',
    )
  }
}
