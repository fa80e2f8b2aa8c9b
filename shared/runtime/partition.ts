// One assigned partition of a stage's inbox: the fold, its outputs, its commit, its ticks and its
// performer, from assignment to loss.
// RUNTIME-PARTITION-1. Records before the committed offset only build state. Their outputs were
//     acknowledged before that commit (R1).
// RUNTIME-PARTITION-2. Performers act, and ticks are written, only after the state has caught up with
//     the log's end at the assignment. All its outputs but lines of activity are acknowledged (R4).
// RUNTIME-PARTITION-3. One tick per unit and deadline. Only a rejected one, or one whose record is
//     earlier than the deadline, is repeated. None while the last ones are unwritten.
// RUNTIME-PARTITION-4. While the log's clock is unknown, one tick of the first due unit measures
//     it. It does nothing if it is too early.

import type { Logger } from 'pino'
import { codec } from '../codec/codec.ts'
import type {
  Assignment,
  Bus,
  PartitionReader,
  RecordToAppend,
  Step,
  StoredRecord,
} from '../contract/bus.ts'
import type { ConversationId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { Message, Tick } from '../contract/messages.ts'
import type { Performer } from '../contract/performer.ts'
import type { Output, Stage } from '../contract/stage.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { createFold, type Unit } from './fold.ts'
import { createInputEnds } from './input-ends.ts'
import type { Instruments } from './instruments.ts'
import { positionAt, toCommit } from './position.ts'
import { toRecord } from './record.ts'

export type PartitionOptions<State, In extends Message, Task> = {
  bus: Bus
  stage: Stage<State, In, Task>
  topicPrefix: string
  /** As in FoldOptions. */
  partitions?: number | undefined
  assignment: Assignment
  performer: Performer<Task> | undefined
  /** Called for each output of the reducer, once it is acknowledged. Only for logs. */
  observed: ((output: Output) => void) | undefined
  instruments?: Instruments | undefined
  log: Logger
}

/** Steps that are not acknowledged yet. Kept only if `observed` or `instruments` is set. */
type Unacknowledged = {
  read: StoredRecord[]
  repeats: number
  outputs: Output[]
  written: RecordToAppend[]
}

const nothingPending = (): Unacknowledged => ({ read: [], repeats: 0, outputs: [], written: [] })
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
  const inputs = createInputEnds({ bus, topicPrefix: options.topicPrefix, partition, log })
  if (assignment.committed?.metadata === '')
    log.warn(
      { topic, partition, done, from },
      "the group's commit has no metadata of Weir, so another tool set it: the state is folded from the begin of the log, and repeated records are not recognised before it",
    )
  const fold = createFold({
    stage,
    partition,
    ...codec,
    partitions: options.partitions,
    topicPrefix: options.topicPrefix,
    marks,
    readBack,
    judge: ({ refused }, id) =>
      refused === undefined
        ? id && inputs.refusalOf(id)
        : new WeirError('record.unsigned', refused),
    judged: { to: done, refused },
  })
  const ticker = createTicker()
  const touched = new Set<string>()
  let position = from
  let pending = nothingPending()
  let acting = false
  let isClosed = false
  const measured = {
    stage: stage.name,
    topic,
    partition,
    from,
    done,
    end,
    units: fold.units,
    hasCaughtUp: () => acting,
  }
  const instrument = instruments?.assigned(measured)

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
        if (record.offset < done) continue // keeps RUNTIME-PARTITION-1
        step.push(...applied.records)
        logDeadLetters(applied.outputs)
        if (observed || instrument) pending.outputs.push(...applied.outputs)
        if (applied.isRepeat) pending.repeats += 1
      }
      if (instrument) {
        pending.read.push(...records)
        pending.written.push(...step)
      }
      return {
        outputs: step,
        commit: position < done ? undefined : toCommit(fold.position(position)),
        onlyInforms: step.length > 0 && step.every((output) => output.topic === activity),
      }
    },

    goAhead() {
      if (!acting) return
      reconcile(touched)
      touched.clear()
    },

    acknowledged() {
      if (observed || instrument) reportStep()
      if (acting) reconcile(touched)
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

  function reportStep(): void {
    const step = pending
    pending = nothingPending()
    if (observed) for (const output of step.outputs) observed(output)
    instrument?.acknowledged(step)
  }

  /** Operators look at the log first, so it names each dead letter (R8). The topic has the bytes. */
  function logDeadLetters(outputs: Output[]): void {
    for (const { message } of outputs) {
      if (message.type !== 'dead-letter') continue
      const { topic, partition, offset, code, reason } = message
      log.error(
        { topic, partition, offset, code, reason },
        'a record could not be applied and went to dead-letters',
      )
    }
  }

  /** The state has caught up, so this owner acts from here on (keeps RUNTIME-PARTITION-2). */
  function act(): void {
    acting = true
    reconcile(fold.units.keys())
  }

  function reconcile(keys: Iterable<string>): void {
    if (isClosed) return
    for (const key of keys) {
      const unit = fold.units.get(key)
      performer?.reconcile(key, unit === undefined ? [] : stage.wants(unit.state))
      ticker.moved(key, unit)
    }
  }

  async function* readBack(start: number, to: number): AsyncIterable<StoredRecord[]> {
    for (let next = start; next < to; ) {
      const records = await bus.read({
        topic,
        partition,
        from: next,
        to,
        limit: limits.readBackRecordsMax,
      })
      if (records.length === 0) return
      yield records
      next = (records.at(-1)?.offset ?? to) + 1
    }
  }

  /** Writes a tick when a unit is due. The partition has one timer, which scans all units. */
  function createTicker() {
    /** By unit, for its present deadline: no further tick before `again`. */
    const ticked = new Map<string, Ticked>()
    let next = Number.POSITIVE_INFINITY
    let cancel: (() => void) | undefined
    let isWriting = false
    let isScanDue = false
    let scannedAt = Number.NEGATIVE_INFINITY

    return {
      moved(key: string, unit: Unit<State> | undefined): void {
        const due = unit && stage.due(unit.state)
        if (ticked.get(key)?.due !== due) ticked.delete(key)
        if (due !== undefined) wakeAt(againAt(key, due))
      },
      stop(): void {
        cancel?.()
      },
    }

    /** Infinity: its tick is on its way or in the log. */
    function againAt(key: string, due: Milliseconds): Milliseconds {
      return Math.max(due, ticked.get(key)?.again ?? due)
    }

    function wakeAt(
      time: Milliseconds,
      delayMs = isClockUnknown(bus) ? 0 : time - bus.clock.now(),
    ): void {
      if (time >= next) return
      cancel?.()
      next = time
      // A scan takes longer with more units, such as conversations that are kept for ten minutes.
      // So more units mean a longer time between scans.
      const apart = scannedAt + fold.units.size * limits.tickLookMsPerUnit - bus.clock.monotonic()
      cancel = bus.clock.after(Math.max(delayMs, apart), writeDueTicks)
    }

    function writeDueTicks(): void {
      next = Number.POSITIVE_INFINITY
      isScanDue = isWriting // keeps RUNTIME-PARTITION-3
      if (isClosed || isWriting) return
      scannedAt = bus.clock.monotonic()
      const overdue = isClockUnknown(bus) ? earliest() : allOverdue()
      if (overdue.length > 0) void write(overdue)
    }

    function allOverdue(): DueUnit[] {
      const now = bus.clock.now()
      const overdue: DueUnit[] = []
      for (const [key, { state, conversation }] of fold.units) {
        const due = stage.due(state)
        if (due === undefined) continue
        const again = againAt(key, due)
        if (again > now) wakeAt(again)
        else overdue.push({ key, conversation, due })
      }
      return overdue
    }

    /** The unit whose tick measures the clock: the first that is due, in one append. */
    function earliest(): DueUnit[] {
      let first: DueUnit | undefined
      for (const [key, { state, conversation }] of fold.units) {
        const due = stage.due(state)
        if (due === undefined || due >= (first?.due ?? Number.POSITIVE_INFINITY)) continue
        if (againAt(key, due) < Number.POSITIVE_INFINITY) first = { key, conversation, due }
      }
      return first === undefined ? [] : [first]
    }

    async function write(units: DueUnit[]): Promise<void> {
      const ticks = units.map(({ key, conversation }): Tick => {
        return { type: 'tick', conversation, unit: key }
      })
      const written = ticks.map((message) => toRecord({ topic, partition, message }))
      for (const { key, due } of units) ticked.set(key, { due, again: Number.POSITIVE_INFINITY })
      const wasUnknown = isClockUnknown(bus)
      const repeatAt = bus.clock.monotonic() + limits.tickRepeatMs
      isWriting = true
      try {
        const appended = await bus.append(written)
        instruments?.observed(stage.name, { messages: ticks, written })
        for (const [n, unit] of units.entries()) onWritten(unit, appended[n]?.time ?? unit.due)
      } catch (error) {
        log.warn(
          { err: error, stage: stage.name, partition, ticks: ticks.length },
          'ticks could not be written and will be retried',
        )
        const waitMs = repeatAt - bus.clock.monotonic()
        for (const unit of units) repeat(unit, Math.max(0, waitMs))
        if (waitMs <= 0) isScanDue = true
      }
      isWriting = false
      if (isScanDue || (wasUnknown && !isClockUnknown(bus))) writeDueTicks()
    }

    /** A tick before its deadline does nothing, so it is repeated when the rest has passed. */
    function onWritten(unit: DueUnit, time: Milliseconds): void {
      if (time < unit.due) repeat(unit, unit.due - time)
    }

    function repeat({ key, due }: DueUnit, afterMs: Milliseconds): void {
      if (ticked.get(key)?.due !== due) return // it has moved meanwhile
      const again = bus.clock.now() + afterMs
      ticked.set(key, { due, again })
      wakeAt(again, afterMs)
    }
  }
}

type Ticked = { due: Milliseconds; again: Milliseconds }

type DueUnit = { key: string; conversation: ConversationId; due: Milliseconds }

/** No record shows yet how far the log's clock is from this machine's. */
function isClockUnknown({ clockSkew }: Bus): boolean {
  return clockSkew !== undefined && clockSkew.measuredMs === undefined
}
