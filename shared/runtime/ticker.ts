// Writes a tick when a unit of a partition is due. One timer, which scans all units.
// One tick per unit and deadline. Only a rejected one, or one whose record is earlier than
// the deadline, is repeated. None while the last ones are unwritten.
// While the log's clock is unknown, one tick of the first due unit measures it. It does
// nothing if it is too early.

import type { Logger } from 'pino'
import type { Bus, RecordToAppend } from '../contract/bus.ts'
import type { ConversationId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { Message, Tick } from '../contract/messages.ts'
import type { Stage } from '../contract/stage.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { Unit } from './fold.ts'
import { toRecord } from './record.ts'

/** The time until ticks that the bus rejected are written again. */
const tickRepeatMs = 1_000

type Ticked = { due: Milliseconds; again: Milliseconds }

type DueUnit = { key: string; conversation: ConversationId; due: Milliseconds }

export type TickerOptions<State, In extends Message, Task> = {
  bus: Bus
  stage: Stage<State, In, Task>
  topic: string
  partition: number
  units: ReadonlyMap<string, Unit<State>>
  /** The ticks are in the log. */
  onTicks(appended: { messages: Tick[]; written: RecordToAppend[] }): void
  log: Logger
}

export function createTicker<State, In extends Message, Task>(
  options: TickerOptions<State, In, Task>,
) {
  const { bus, stage, topic, partition, units, onTicks, log } = options
  /** By unit, for its present deadline: no further tick before `again`. */
  const ticked = new Map<string, Ticked>()
  let next = Number.POSITIVE_INFINITY
  let cancel: (() => void) | undefined
  let isWriting = false
  let isStopped = false
  let isScanDue = false
  let scannedAt = Number.NEGATIVE_INFINITY

  return {
    /** The unit has another deadline, or is closed (undefined). */
    moved(key: string, unit: Unit<State> | undefined): void {
      const due = unit && stage.due(unit.state)
      if (ticked.get(key)?.due !== due) ticked.delete(key)
      if (due !== undefined) wakeAt(againAt(key, due))
    },
    stop(): void {
      isStopped = true
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
    const apart = scannedAt + units.size * limits.tickLookMsPerUnit - bus.clock.monotonic()
    cancel = bus.clock.after(Math.max(delayMs, apart), writeDueTicks)
  }

  function writeDueTicks(): void {
    next = Number.POSITIVE_INFINITY
    isScanDue = isWriting
    if (isStopped || isWriting) return
    scannedAt = bus.clock.monotonic()
    const overdue = isClockUnknown(bus) ? earliest() : allOverdue()
    if (overdue.length > 0) void write(overdue)
  }

  function allOverdue(): DueUnit[] {
    const now = bus.clock.now()
    const overdue: DueUnit[] = []
    for (const [key, { state, conversation }] of units) {
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
    for (const [key, { state, conversation }] of units) {
      const due = stage.due(state)
      if (due === undefined || due >= (first?.due ?? Number.POSITIVE_INFINITY)) continue
      if (againAt(key, due) < Number.POSITIVE_INFINITY) first = { key, conversation, due }
    }
    return first === undefined ? [] : [first]
  }

  async function write(overdue: DueUnit[]): Promise<void> {
    const ticks = overdue.map(({ key, conversation }): Tick => {
      return { type: 'tick', conversation, unit: key }
    })
    const written = ticks.map((message) => toRecord({ topic, partition, message }))
    for (const { key, due } of overdue) ticked.set(key, { due, again: Number.POSITIVE_INFINITY })
    const wasUnknown = isClockUnknown(bus)
    const repeatAt = bus.clock.monotonic() + tickRepeatMs
    isWriting = true
    try {
      const appended = await bus.append(written)
      onTicks({ messages: ticks, written })
      for (const [n, unit] of overdue.entries()) onWritten(unit, appended[n]?.time ?? unit.due)
    } catch (error) {
      log.warn(
        { err: error, stage: stage.name, partition, ticks: ticks.length },
        'ticks could not be written and will be retried',
      )
      const waitMs = repeatAt - bus.clock.monotonic()
      for (const unit of overdue) repeat(unit, Math.max(0, waitMs))
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

/** No record shows yet how far the log's clock is from this machine's. */
function isClockUnknown({ clockSkew }: Bus): boolean {
  return clockSkew !== undefined && clockSkew.measuredMs === undefined
}
