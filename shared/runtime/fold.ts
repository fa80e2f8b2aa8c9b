// The fold: applies the records of one inbox partition to units, by a stage's reducer. Owns the
// units, the marks and the handling of records that fail. Does not own reading, writing or time.
// The same fold runs in production, in a replay and in simulation.
// Records are applied in offset order. The outputs depend only on the log.
// A derived record not above its writer's mark is dropped first of all (R3).
// A tick reaches the reducer only for an open unit at a time >= due. Afterwards due has
// moved or is gone.
// A record that cannot be applied goes to dead-letters. If the reducer threw, its unit is
// folded again up to there, `failed` reacts, and the conversation gets a turn-failed (R8).
// Units stand in the order of their first records. So folding starts at the first unit.

import type { Offset, RecordToAppend, StoredRecord } from '../contract/bus.ts'
import type { ConversationId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { Message, TurnFailed } from '../contract/messages.ts'
import type { Partitions } from '../contract/partition.ts'
import type { Output, Reaction, Received, Stage } from '../contract/stage.ts'
import { type StageName, topicOf } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { onOneLine, shortened } from '../lib/text-cut.ts'
import { isRepeat, type Mark, type Marks, moveMark, parseId, type ReadId } from './derived-id.ts'
import type { Position } from './log/position.ts'
import { createRefusals, type Judge, type Judged } from './log/refusals.ts'
import { admit, inletOf, outletOf, toRecords } from './wiring.ts'

export type Unit<State> = {
  state: State
  conversation: ConversationId
  turn: number | undefined
  /** The first record of the unit and the marks before it. Folding it again starts there. */
  first: Offset
  marksAtFirst: Marks
  /** The time of its first record. */
  since: Milliseconds
  /** Its last record, also a record without effect, and the unit's time. */
  last: Offset
  time: Milliseconds
  /**
   * Records of the unit that made the reducer throw, with the reasons. Folding the unit again skips
   * them. Nearly no unit has any.
   */
  failures: Map<Offset, string> | undefined
}

/**
 * The effect of one record. `unit`: the key of its unit; undefined if it was dropped. `isRepeat`: it
 * was dropped by its mark.
 */
export type Applied = {
  unit: string | undefined
  outputs: Output[]
  records: RecordToAppend[]
  isRepeat?: true
}

export type Fold<State> = {
  readonly units: ReadonlyMap<string, Unit<State>>
  /**
   * A promise only if the reducer threw, because then the unit is read again. All other records are
   * applied without a turn of the event loop.
   */
  apply(record: StoredRecord): Applied | Promise<Applied>
  /** The position when all records before `done` are applied. */
  position(done: Offset): Position
}

export type FoldOptions<State, In extends Message, Task> = {
  stage: Stage<State, In, Task>
  partition: number
  /**
   * The partitions of every topic, to find records in another partition than their
   * conversation's. Undefined: not checked.
   */
  partitions?: Partitions | undefined
  topicPrefix: string
  /** Marks at the first record to apply; copied. */
  marks: Marks
  /** Reads the stage's inbox from `from` to before `to`, to fold `unit` a second time. */
  readBack(from: Offset, to: Offset, unit: string): AsyncIterable<StoredRecord[]>
  /** The codec's. A what-if replay changes messages here. Must throw as the codec does, and be pure. */
  decode: (value: Uint8Array) => Message
  /** The codec's, for the outputs. Undefined: `records` are empty. */
  encode: ((message: Message) => Uint8Array) | undefined
  /** Whether to throw errors of the reducer and of records. By default a fold reports them. */
  throws?: boolean
  /** The records that made the reducer throw, with the reasons. */
  failures?: ReadonlyMap<Offset, string> | undefined
  /** Judges records by facts outside of the inbox; default: none is refused. */
  judge?: Judge | undefined
  /** The records that are judged already. */
  judged?: Judged | undefined
  /** Apply the records of this unit only, to fold it again. */
  only?: string
  /** A copy of a unit from which it is folded again. Default: it is folded from its first record. */
  copyOf?: ((unit: string) => Unit<State> | undefined) | undefined
}

/** A record before its reaction, and the unit as it is in memory. */
type Applying<State, In extends Message> = {
  record: StoredRecord
  id: Readonly<ReadId> | undefined
  /** The mark of its writer before it. */
  markBefore: Mark | undefined
  key: string
  received: Received<In>
  unit: Unit<State> | undefined
}

const nothing: Applied = { unit: undefined, outputs: [], records: [] }
const repeated: Applied = { ...nothing, isRepeat: true }

export function createFold<State, In extends Message, Task>(
  options: FoldOptions<State, In, Task>,
): Fold<State> {
  const { stage, partition, topicPrefix, encode } = options
  const inlet = inletOf(stage.name, options.decode)
  const outlet = encode && outletOf(stage.name, { partition, topicPrefix, encode })
  const marks: Marks = { ...options.marks }
  const units = new Map<string, Unit<State>>()
  const copy = options.only === undefined ? undefined : options.copyOf?.(options.only)
  if (options.only !== undefined && copy !== undefined) units.set(options.only, copy)
  const refusals = createRefusals(options)

  return {
    units,
    apply,
    position(done) {
      const oldest = units.values().next().value
      const from = oldest?.first ?? done
      refusals.forgetBefore(from)
      const refused = refusals.since(from)
      const position = { done, from, marks: oldest?.marksAtFirst ?? { ...marks } }
      return refused === undefined ? position : { ...position, refused }
    },
  }

  function apply(record: StoredRecord): Applied | Promise<Applied> {
    const id = parseId(record.id)
    const markBefore = id && marks[id.writer]
    if (id !== undefined && isRepeat(marks, id)) return repeated
    if (record.conversationKey === 'deleted') return nothing // weir forget deleted it
    const refusal = refusals.refusalOf(record, id)
    let message: In
    let key: string
    let unit: Unit<State> | undefined
    try {
      if (refusal !== undefined) throw refusal
      message = admit(inlet, record, id) as In
      key = message.type === 'tick' ? message.unit : stage.unit(message)
      unit = units.get(key)
      if (unit === undefined) assertAtHome(record, message, key, options.partitions)
    } catch (error) {
      if (options.throws) throw error
      return options.only === undefined
        ? written(record, undefined, [deadLetter(record, stage.name, error)])
        : nothing
    }
    if (id !== undefined) moveMark(marks, id) // only now: a forged id must not hide later records
    if (options.only !== undefined && key !== options.only) return nothing
    const time =
      stage.beginsAnew?.(message) === true ? record.time : Math.max(record.time, unit?.time ?? 0)
    if (message.type === 'tick' && !isDue(stage, unit, time)) {
      // An early tick is a record of the unit too. Otherwise a `carried` would count by mistake.
      if (unit !== undefined) unit.last = record.offset
      return nothing
    }
    const received: Received<In> = { message, offset: record.offset, previous: unit?.last, time }
    const applying = { record, id, markBefore, key, received, unit }
    const failure = options.failures?.get(record.offset)
    if (failure !== undefined) return applyFailure(applying, unit?.state, failure, [])
    try {
      const reaction = stage.react(unit?.state, received)
      const applied = written(record, key, reaction.records ?? [])
      if (message.type === 'tick') assertMoved(stage, key, reaction, time)
      storeState(units, marks, applying, reaction)
      return applied
    } catch (error) {
      if (options.throws) throw error
      return onThrow(applying, error)
    }
  }

  /**
   * The reducer threw, or its output cannot be encoded. It is pure, so another try would fail too.
   */
  async function onThrow(failing: Applying<State, In>, error: unknown): Promise<Applied> {
    const { record, unit } = failing
    const state =
      unit === undefined
        ? undefined
        : await stateBefore(record.offset, failing.key, unit, {
            ...options,
            judged: { to: record.offset, refused: refusals.since(unit.first) },
          })
    const reports: Output[] = [deadLetter(record, stage.name, error)]
    const message = turnFailed(stage.name, failing, error)
    if (topicOf(stage.name, 'conversation', message) !== inlet.topic)
      reports.unshift({ to: 'conversation', message })
    return applyFailure(failing, state, message.reason, reports)
  }

  /**
   * Applies `failed` to the state before the record that threw. If `failed` throws too, the unit is
   * lost.
   */
  function applyFailure(
    failing: Applying<State, In>,
    state: State | undefined,
    reason: string,
    reports: Output[],
  ): Applied {
    const { record, key, received } = failing
    try {
      const reaction = stage.failed(state, received, reason)
      const applied = written(record, key, [...(reaction.records ?? []), ...reports])
      storeState(units, marks, failing, reaction)
      const open = units.get(key)
      if (open !== undefined)
        open.failures = (open.failures ?? new Map()).set(record.offset, reason)
      return applied
    } catch (error) {
      if (options.throws) throw error
      units.delete(key)
      return written(record, key, reports)
    }
  }

  function written(record: StoredRecord, unit: string | undefined, outputs: Output[]): Applied {
    return { unit, outputs, records: outlet ? toRecords(outlet, record.offset, outputs) : [] }
  }
}

/**
 * A unit opens only in its conversation's own partition. A copy in another one would run a second
 * time there, by another owner, and nobody would find it. Checked only before a unit opens, because
 * the hash costs as much as a small record.
 */
function assertAtHome(
  record: StoredRecord,
  message: Message,
  unit: string,
  partitions: Partitions | undefined,
): void {
  if (partitions === undefined || message.type === 'tick' || unit === '') return
  const home = partitions.of(record.key)
  if (home !== record.partition)
    throw new WeirError(
      'codec.bad-message',
      `${message.type} stands in partition ${record.partition}, and its key ${JSON.stringify(record.key.slice(0, 256))} belongs to ${home} of ${partitions.count}`,
    )
}

function isDue<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  unit: Unit<State> | undefined,
  time: Milliseconds,
): boolean {
  const due = unit && stage.due(unit.state)
  return due !== undefined && time >= due
}

function assertMoved<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  key: string,
  { state }: Reaction<State>,
  time: Milliseconds,
): void {
  const due = state === undefined ? undefined : stage.due(state)
  if (due !== undefined && due <= time)
    throw new WeirError(
      'runtime.assertion',
      `${stage.name}: a tick at ${time} left unit ${key} due at ${due}; it must move or close`,
    )
}

function storeState<State, In extends Message>(
  units: Map<string, Unit<State>>,
  marks: Marks,
  { key, id, markBefore, received, unit }: Applying<State, In>,
  reaction: Reaction<State>,
): void {
  const { message, offset, time } = received
  if (reaction.state === undefined) {
    units.delete(key)
  } else if (unit === undefined || reaction.anew) {
    units.delete(key) // to stand last again
    units.set(key, {
      state: reaction.state,
      conversation: 'conversation' in message ? message.conversation : '',
      turn: turnOf(message),
      first: offset,
      marksAtFirst: withMark(marks, id?.writer, markBefore),
      since: time,
      last: offset,
      time,
      failures: undefined,
    })
  } else {
    unit.state = reaction.state
    unit.last = offset
    unit.time = Math.max(unit.time, time)
  }
}

/**
 * The unit's state before `upTo`, from the log: the reducer may have half changed the one in memory.
 */
async function stateBefore<State, In extends Message, Task>(
  upTo: Offset,
  key: string,
  unit: Unit<State>,
  options: FoldOptions<State, In, Task>,
): Promise<State | undefined> {
  const { first, marksAtFirst: marks, failures } = unit
  const again = createFold({ ...options, marks, only: key, failures })
  const from = (again.units.get(key)?.last ?? first - 1) + 1
  for await (const records of options.readBack(from, upTo, key))
    for (const record of records) await again.apply(record)
  return again.units.get(key)?.state
}

function turnFailed<State, In extends Message>(
  stage: StageName,
  { record, received: { message }, unit }: Applying<State, In>,
  error: unknown,
): TurnFailed {
  const conversation = 'conversation' in message ? message.conversation : record.key
  const turn = turnOf(message) ?? unit?.turn ?? null
  return { type: 'turn-failed', conversation, turn, stage, reason: textOf(error) }
}

function deadLetter(record: StoredRecord, stage: string, error: unknown): Output {
  const code = error instanceof WeirError ? error.code : 'runtime.assertion'
  const { topic, partition, offset, time, key } = record
  return {
    to: 'dead-letters',
    message: {
      type: 'dead-letter',
      topic,
      partition,
      offset,
      time,
      stage,
      code,
      reason: textOf(error),
      key,
      value: Buffer.from(record.value ?? []).subarray(0, limits.deadLetterBytesMax),
    },
  }
}

/** The marks before one of them moved. */
function withMark(marks: Marks, writer: string | undefined, mark: Mark | undefined): Marks {
  const copy = { ...marks }
  if (writer === undefined) return copy
  if (mark === undefined) delete copy[writer]
  else copy[writer] = mark
  return copy
}

function turnOf(message: Message): number | undefined {
  return 'turn' in message && typeof message.turn === 'number' ? message.turn : undefined
}

function textOf(error: unknown): string {
  return shortened(
    onOneLine(error instanceof Error ? error.message : String(error)),
    limits.reasonBytesMax,
  )
}
