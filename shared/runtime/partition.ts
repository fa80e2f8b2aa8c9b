// One assigned partition of a stage's inbox: the fold, its outputs, its commit, its ticks and its
// performer, from assignment to loss.
// RUNTIME-PARTITION-1. Up to the committed offset records are folded silently: what they led to was
//     acknowledged before that commit (R1).
// RUNTIME-PARTITION-2. Performers act, and ticks are written, only after the state has caught up
//     with the end that the log had at the assignment, and only on what is acknowledged (R4).
// RUNTIME-PARTITION-3. One unanswered tick per unit, repeated a second apart until the unit has
//     moved; none while the bus has not taken the last ones, or a broker that is away for minutes
//     would come back to thousands of them.

import type { Logger } from 'pino'
import type {
  Assignment,
  Bus,
  PartitionReader,
  RecordToAppend,
  StoredRecord,
} from '../contract/bus.ts'
import { limits } from '../contract/limits.ts'
import type { Message, Tick } from '../contract/messages.ts'
import type { Performer } from '../contract/performer.ts'
import type { Output, Stage } from '../contract/stage.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { createFold, type Unit } from './fold.ts'
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
  /**
   * Called for each record that a reducer wrote, once it is acknowledged. For logs; nothing may
   * depend on it.
   */
  observed: ((output: Output) => void) | undefined
  instruments?: Instruments | undefined
  log: Logger
}

/**
 * What steps led to that are not acknowledged yet. Kept only where somebody wants to hear of it.
 */
type Unacknowledged = { read: StoredRecord[]; outputs: Output[]; written: RecordToAppend[] }

/** Throws `bus.commit-outside-log` when the committed position cannot be folded from. */
export function readPartition<State, In extends Message, Task>(
  options: PartitionOptions<State, In, Task>,
): PartitionReader {
  const { bus, stage, assignment, performer, observed, instruments, log } = options
  const { topic } = assignment
  const { partition, end } = assignment.ends
  const { done, from, marks } = positionAt(assignment)
  const fold = createFold({
    stage,
    partition,
    partitions: options.partitions,
    topicPrefix: options.topicPrefix,
    marks,
    readBack,
  })
  const ticker = createTicker()
  const touched = new Set<string>()
  let position = from
  let pending: Unacknowledged = { read: [], outputs: [], written: [] }
  let acting = false
  let isClosed = false
  const about = {
    stage: stage.name,
    topic,
    partition,
    from,
    done,
    end,
    units: fold.units,
    hasCaughtUp: () => acting,
  }
  const instrument = instruments?.assigned(about)

  if (position >= end) act()

  return {
    position: from,

    async read(records) {
      const step: RecordToAppend[] = []
      for (const record of records) {
        const taking = fold.take(record)
        const taken = taking instanceof Promise ? await taking : taking
        position = record.offset + 1
        if (taken.unit !== undefined) touched.add(taken.unit)
        if (record.offset < done) continue // keeps RUNTIME-PARTITION-1
        step.push(...taken.records)
        logDeadLetters(taken.outputs)
        if (observed || instrument) pending.outputs.push(...taken.outputs)
      }
      if (instrument) {
        pending.read.push(...records)
        pending.written.push(...step)
      }
      return {
        outputs: step,
        commit: position < done ? undefined : toCommit(fold.position(position)),
      }
    },

    acknowledged() {
      if (observed || instrument) tell()
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
      ticker.stop()
      instrument?.closed()
      await performer?.close(how)
    },
  }

  function tell(): void {
    const step = pending
    pending = { read: [], outputs: [], written: [] }
    if (observed) for (const output of step.outputs) observed(output)
    instrument?.acknowledged(step)
  }

  /**
   * Whoever operates Weir must hear of it where they look first (R8); the bytes are in the topic.
   */
  function logDeadLetters(outputs: Output[]): void {
    for (const { message } of outputs) {
      if (message.type !== 'dead-letter') continue
      const { topic, partition, offset, code, reason } = message
      log.error(
        { topic, partition, offset, code, reason },
        'a record could not be taken and went to dead-letters',
      )
    }
  }

  /** From here on this owner acts: it has caught up (keeps RUNTIME-PARTITION-2). */
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

  /**
   * Writes a tick when a unit is due. One timer for the partition; when it fires, the units are
   * looked through once.
   */
  function createTicker() {
    const ticked = new Map<string, Milliseconds>()
    let next = Number.POSITIVE_INFINITY
    let cancel: (() => void) | undefined
    let isWriting = false
    let isLookDue = false
    let lookedAt = Number.NEGATIVE_INFINITY

    return {
      moved(key: string, unit: Unit<State> | undefined): void {
        ticked.delete(key)
        const due = unit && stage.due(unit.state)
        if (due !== undefined) wakeAt(due)
      },
      stop(): void {
        cancel?.()
      },
    }

    function wakeAt(time: Milliseconds): void {
      if (time >= next) return
      cancel?.()
      next = time
      // A look takes the longer the more units there are, such as conversations that are remembered
      // for ten minutes: so the farther apart they are.
      const apart = lookedAt + fold.units.size * limits.tickLookMsPerUnit - bus.clock.monotonic()
      cancel = bus.clock.after(Math.max(time - bus.clock.now(), apart), look)
    }

    function look(): void {
      next = Number.POSITIVE_INFINITY
      isLookDue = isWriting // keeps RUNTIME-PARTITION-3
      if (isClosed || isWriting) return
      const now = bus.clock.now()
      lookedAt = bus.clock.monotonic()
      const overdue: Tick[] = []
      for (const [key, unit] of fold.units) {
        const due = stage.due(unit.state)
        if (due === undefined) continue
        const again = Math.max(
          due,
          (ticked.get(key) ?? Number.NEGATIVE_INFINITY) + limits.tickRepeatMs,
        )
        if (again > now) {
          wakeAt(again)
          continue
        }
        ticked.set(key, now)
        overdue.push({ type: 'tick', conversation: unit.conversation, unit: key })
        wakeAt(now + limits.tickRepeatMs)
      }
      if (overdue.length > 0) void write(overdue)
    }

    async function write(ticks: Tick[]): Promise<void> {
      const written = ticks.map((message) => toRecord({ topic, partition, message }))
      isWriting = true
      try {
        await bus.append(written)
        instruments?.observed(stage.name, { messages: ticks, written })
      } catch (error) {
        log.warn(
          { err: error, stage: stage.name, partition, ticks: ticks.length },
          'ticks were not written and will be tried again',
        )
      }
      isWriting = false
      if (isLookDue) look()
    }
  }
}
