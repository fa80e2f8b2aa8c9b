// The fold: applies the records of one inbox partition to units, by a stage's reducer. Owns the
// units, the marks and the handling of records that fail. Does not own reading, writing or time.
// The same fold runs in production, in a replay and in simulation.
// FOLD-1. Records are applied in offset order. The outputs depend only on the log.
// FOLD-2. A derived record not above its writer's mark is dropped first of all (R3).
// FOLD-3. A tick reaches the reducer only for an open unit at a time >= due. Afterwards due has
//     moved or is gone.
// FOLD-4. A record that cannot be applied goes to dead-letters. If the reducer threw, its unit is
//     folded again up to there, `failed` reacts, and the conversation gets a turn-failed (R8).
// FOLD-5. Units stand in the order of their first records. So folding starts at the first unit.

import type { Offset, RecordToAppend, StoredRecord } from '../contract/bus.ts'
import { type ConversationId, turnOfMessage } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { Message, MessageType } from '../contract/messages.ts'
import { partitionOf } from '../contract/partition.ts'
import type { Output, Reaction, Received, Stage } from '../contract/stage.ts'
import {
  keyOf,
  type StageName,
  stages,
  type TopicName,
  topicOf,
  topics,
  topicsWrittenBy,
  type Writer,
} from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { onOneLine, shortened } from '../lib/text-cut.ts'
import { formatId, isRepeat, type Marks, moveMark, parseId, type ReadId } from './derived-id.ts'
import type { Position } from './position.ts'
import { createRefusals, type Judge, type Refused } from './refusals.ts'

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
   * The number of partitions of every topic, to find records in another partition than their
   * conversation's. Undefined: not checked.
   */
  partitions?: number | undefined
  topicPrefix: string
  /** Marks at the first record to apply; copied. */
  marks: Marks
  /** Reads the stage's inbox from `from` to before `to`, to fold a unit a second time. */
  readBack(from: Offset, to: Offset): AsyncIterable<StoredRecord[]>
  /** The codec's. A what-if replay changes messages here. Must throw as the codec does, and be pure. */
  decode: (value: Uint8Array) => Message
  /** The codec's, for the outputs. Undefined: `records` are empty. */
  encode: ((message: Message) => Uint8Array) | undefined
  /** Whether to throw errors of the reducer and of records. Default: FOLD-4. */
  throws?: boolean
  /** The records that made the reducer throw, with the reasons. */
  failures?: ReadonlyMap<Offset, string> | undefined
  /** Judges records by facts outside of the inbox; default: none is refused. */
  judge?: Judge | undefined
  /** Records before `to` are judged already, and `refused` names the refused ones (REFUSALS-1). */
  judged?: { to: Offset; refused: Refused | undefined } | undefined
  /** Apply the records of this unit only, to fold it again. */
  only?: string
  /** A copy of a unit from which it is folded again. Default: it is folded from its first record. */
  copyOf?: ((unit: string) => Unit<State> | undefined) | undefined
}

/** A record on which the reducer threw, and the unit as it is in memory. */
type Failing<State, In extends Message> = {
  record: StoredRecord
  key: string
  received: Received<In>
  unit: Unit<State> | undefined
  marksBefore: () => Marks
}

const nothing: Applied = { unit: undefined, outputs: [], records: [] }
const repeated: Applied = { ...nothing, isRepeat: true }

export function createFold<State, In extends Message, Task>(
  options: FoldOptions<State, In, Task>,
): Fold<State> {
  const { stage, partition, topicPrefix, decode: read, encode } = options
  const { inbox } = stages[stage.name]
  const admission = admissionOf(inbox)
  const outlets = outletsOf(stage.name)
  const marks: Marks = { ...options.marks }
  const units = new Map<string, Unit<State>>()
  const copy = options.only === undefined ? undefined : options.copyOf?.(options.only)
  if (options.only !== undefined && copy !== undefined) units.set(options.only, copy)
  const refusals = createRefusals(options.judged?.refused)

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
    const id = record.id === undefined ? undefined : parseId(record.id)
    const mark = id && marks[id.writer]
    const marksBefore = (): Marks => withMark(marks, id?.writer, mark)
    if (id !== undefined && isRepeat(marks, id)) return repeated
    const refusal = refusalOf(record, id)
    let message: In
    let key: string
    try {
      if (refusal !== undefined) throw refusal
      message = admit(record, id, { inbox, admission, read }) as In
      key = message.type === 'tick' ? message.unit : stage.unit(message)
      assertAtHome(record, message, key)
    } catch (error) {
      if (options.throws) throw error
      return options.only === undefined
        ? written(record, undefined, [deadLetter(record, stage.name, error)])
        : nothing
    }
    if (id !== undefined) moveMark(marks, id) // only now: a forged id must not hide later records
    if (options.only !== undefined && key !== options.only) return nothing
    const unit = units.get(key)
    const time =
      stage.beginsAnew?.(message) === true ? record.time : Math.max(record.time, unit?.time ?? 0)
    if (message.type === 'tick' && !isDue(unit, time)) {
      // An early tick is a record of the unit too. Otherwise a `carried` would count by mistake.
      if (unit !== undefined) unit.last = record.offset
      return nothing
    }
    const received: Received<In> = { message, offset: record.offset, previous: unit?.last, time }
    const failure = options.failures?.get(record.offset)
    if (failure !== undefined)
      return applyFailure({ record, key, received, unit, marksBefore }, unit?.state, failure, [])
    try {
      const reaction = stage.react(unit?.state, received)
      const applied = written(record, key, reaction.records ?? [])
      if (message.type === 'tick') assertMoved(key, reaction, time)
      storeState(key, reaction, received, unit, marksBefore)
      return applied
    } catch (error) {
      if (options.throws) throw error
      return onThrow({ record, key, received, unit, marksBefore }, error)
    }
  }

  /** Judges each record once (REFUSALS-1). */
  function refusalOf(
    record: StoredRecord,
    id: Readonly<ReadId> | undefined,
  ): WeirError | undefined {
    const { judge, judged } = options
    if (judge === undefined) return undefined
    const isKnown = record.offset < (judged?.to ?? 0) ? refusals.has(record.offset) : undefined
    if (isKnown === false) return undefined
    const refusal = judge(record, id)
    if (isKnown) return refusal ?? refusedBefore
    if (refusal !== undefined) refusals.add(record.offset)
    return refusal
  }

  /**
   * A unit opens only in its conversation's own partition. A copy in another one would run a second
   * time there, by another owner, and nobody would find it. Checked only before a unit opens,
   * because the hash costs as much as a small record.
   */
  function assertAtHome(record: StoredRecord, message: In, unit: string): void {
    if (
      options.partitions === undefined ||
      message.type === 'tick' ||
      unit === '' ||
      units.has(unit)
    )
      return
    const home = partitionOf(record.key, options.partitions)
    if (home !== record.partition)
      throw new WeirError(
        'codec.bad-message',
        `${message.type} stands in partition ${record.partition}, and its key ${JSON.stringify(record.key.slice(0, 256))} belongs to ${home} of ${options.partitions}`,
      )
  }

  function isDue(unit: Unit<State> | undefined, time: Milliseconds): boolean {
    const due = unit && stage.due(unit.state)
    return due !== undefined && time >= due
  }

  function assertMoved(key: string, { state }: Reaction<State>, time: Milliseconds): void {
    const due = state === undefined ? undefined : stage.due(state)
    if (due !== undefined && due <= time)
      throw new WeirError(
        'runtime.assertion',
        `${stage.name}: a tick at ${time} left unit ${key} due at ${due}; it must move or close (keeps FOLD-3)`,
      )
  }

  function storeState(
    key: string,
    reaction: Reaction<State>,
    received: Received<In>,
    unit: Unit<State> | undefined,
    marksBefore: () => Marks,
  ): void {
    const { message, offset, time } = received
    if (reaction.state === undefined) {
      units.delete(key)
    } else if (unit === undefined || reaction.anew) {
      units.delete(key) // to stand last again (keeps FOLD-5)
      units.set(key, {
        state: reaction.state,
        conversation: 'conversation' in message ? message.conversation : '',
        turn: turnOf(message),
        first: offset,
        marksAtFirst: marksBefore(),
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
   * The reducer threw, or its output cannot be encoded. It is pure, so another try would fail too.
   */
  async function onThrow(failing: Failing<State, In>, error: unknown): Promise<Applied> {
    const { record, key, received, unit } = failing
    const reason = textOf(error)
    const state = unit === undefined ? undefined : await foldAgain(key, unit, record.offset)
    const turn = turnOf(received.message) ?? unit?.turn
    const conversation =
      'conversation' in received.message ? received.message.conversation : record.key
    const reports: Output[] = [deadLetter(record, stage.name, error)]
    const message: Message = {
      type: 'turn-failed',
      conversation,
      turn: turn ?? null,
      stage: stage.name,
      reason,
    }
    if (topicOf(stage.name, 'conversation', message) !== inbox)
      reports.unshift({ to: 'conversation', message })
    return applyFailure(failing, state, reason, reports)
  }

  /**
   * Applies `failed` to the state before the record that threw. If `failed` throws too, the unit is
   * lost.
   */
  function applyFailure(
    failing: Failing<State, In>,
    state: State | undefined,
    reason: string,
    reports: Output[],
  ): Applied {
    const { record, key, received, unit, marksBefore } = failing
    try {
      const reaction = stage.failed(state, received, reason)
      const applied = written(record, key, [...(reaction.records ?? []), ...reports])
      storeState(key, reaction, received, unit, marksBefore)
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

  /**
   * The unit's state before `upTo`, from the log: the reducer may have half changed the one in
   * memory.
   */
  async function foldAgain(
    key: string,
    unit: Unit<State>,
    upTo: Offset,
  ): Promise<State | undefined> {
    const again = createFold({
      ...options,
      marks: unit.marksAtFirst,
      only: key,
      failures: unit.failures,
      judged: { to: upTo, refused: refusals.since(unit.first) },
    })
    const from = (again.units.get(key)?.last ?? unit.first - 1) + 1
    for await (const records of options.readBack(from, upTo))
      for (const record of records) await again.apply(record)
    return again.units.get(key)?.state
  }

  function written(record: StoredRecord, unit: string | undefined, outputs: Output[]): Applied {
    if (encode === undefined) return { unit, outputs, records: [] }
    const records = outputs.map(({ to, message }, n): RecordToAppend => {
      const topic = topicOf(stage.name, to, message)
      if (topic === undefined || !outlets.get(topic)?.has(message.type))
        throw new WeirError(
          'runtime.assertion',
          `${stage.name} may not write ${message.type} to its port ${to}; see shared/contract/topology.ts`,
        )
      const value = encode(message)
      if (value.length > limits.recordBytesMax)
        throw new WeirError(
          'bus.record-too-large',
          `${message.type} of ${stage.name} has ${value.length} bytes, over the limit of ${limits.recordBytesMax}`,
        )
      return {
        topic: topicPrefix + topic,
        partition,
        key: keyOf(message),
        value,
        id: formatId({ stage: stage.name, partition, offset: record.offset, n }),
        turn: turnOfMessage(message),
      }
    })
    return { unit, outputs, records }
  }
}

/** The writers that may write a type of record, by name and by reducer. */
type Admission = {
  writers: Writer[]
  reducers: Set<string>
  isOfAnyStage: boolean
  isObserved: boolean
}

/** The wiring of an inbox, by message type. */
function admissionOf(inbox: TopicName): Map<MessageType, Admission> {
  const observers = /^(edge|front|approver|runtime|operator|.* performer)$/
  const { records, formerly = {} } = topics[inbox]
  const entries = Object.entries(records) as [MessageType, Writer[]][]
  return new Map(
    entries.map(([type, writers]) => [
      type,
      {
        writers,
        reducers: new Set<string>(writers),
        isOfAnyStage: writers.includes('runtime of any stage'),
        isObserved: [...writers, ...(formerly[type] ?? [])].some((writer) =>
          observers.test(writer),
        ),
      },
    ]),
  )
}

/** The message types that a stage may write to each topic. */
function outletsOf(stage: StageName): Map<TopicName, Set<MessageType>> {
  return new Map(
    topicsWrittenBy(stage).map((topic) => {
      const entries = Object.entries(topics[topic].records) as [MessageType, Writer[]][]
      const types = entries
        .filter(
          ([, writers]) => writers.includes(stage) || writers.includes('runtime of any stage'),
        )
        .map(([type]) => type)
      return [topic, new Set(types)]
    }),
  )
}

/**
 * Decodes a record and checks that it may stand in this inbox. An unknown or misplaced message is
 * an error.
 */
function admit(
  record: StoredRecord,
  id: ReadId | undefined,
  {
    inbox,
    admission,
    read,
  }: {
    inbox: TopicName
    admission: Map<MessageType, Admission>
    read: (value: Uint8Array) => Message
  },
): Message {
  if (record.value === null) throw new WeirError('codec.bad-message', 'a log takes no tombstone')
  const message = read(record.value)
  const admitted = admission.get(message.type)
  if (admitted === undefined)
    throw new WeirError('codec.bad-message', `${message.type} does not belong into ${inbox}`)
  if (record.id !== undefined && id === undefined)
    throw new WeirError('codec.bad-message', `the id ${JSON.stringify(record.id)} is no derived id`)
  if (
    id === undefined
      ? !admitted.isObserved
      : !(admitted.isOfAnyStage || admitted.reducers.has(id.stage))
  )
    throw new WeirError(
      'codec.bad-message',
      `${message.type} in ${inbox} may not come from ${id?.stage ?? 'an observer'}; writers are ${admitted.writers.join(', ')}`,
    )
  if (keyOf(message) !== record.key)
    throw new WeirError(
      'codec.bad-message',
      `${message.type} of ${keyOf(message)} stands under the key ${record.key}`,
    )
  return message
}

/** Its dead letter is in the log already. */
const refusedBefore = new WeirError('record.forged-id', 'it was refused when it was first read')

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
function withMark(
  marks: Marks,
  writer: string | undefined,
  mark: Marks[string] | undefined,
): Marks {
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
