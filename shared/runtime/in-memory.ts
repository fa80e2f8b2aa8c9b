// The in-memory player: runs reducers without a bus. The caller appends the records that performers,
// clients and absent stages write. The player derives the rest.
// Each record goes through the runtime's fold, so a reducer sees offsets, times,
// earlier records and ticks as it does live.
// Time moves by one millisecond with each appended and each applied record. All
// outputs of one record have the same time, as in a log.
// A live player keeps a bounded part of each open unit: a copy of its state and the
// records after it. It needs them after a reducer has thrown (R8). It keeps no other record.

import type { Codec } from '../codec/codec.ts'
import type { Offset, StoredRecord } from '../contract/bus.ts'
import type { ConversationId } from '../contract/ids.ts'
import type { Message, Tick } from '../contract/messages.ts'
import type { Output, Stage } from '../contract/stage.ts'
import {
  keyOf,
  type StageName,
  stages,
  type TopicName,
  topicOf,
  topics,
} from '../contract/topology.ts'
import type { Clock, Milliseconds } from '../lib/clock.ts'
import { formatId } from './derived-id.ts'
import { type Applied, createFold, type Unit } from './fold.ts'

/** Records of a unit that a player without a log keeps before it copies the unit's state. */
export const memoryRecordsKeptMax = 256

/** `topic` has no prefix. */
export type PlayedRecord = StoredRecord & { topic: TopicName }

/** The position of a log. Several players, one after another, can write into one log. */
export type PlayedLog = { now: Milliseconds; ends: Map<TopicName, Offset> }

export type PlayerOptions = {
  /** Default: an empty log at time 0. The player moves its time and its ends. */
  log?: PlayedLog
  topicPrefix?: string
  /**
   * Encode all records, keep them in `records` and handle a reducer that throws as R8 demands.
   * Default: messages stay objects, and the player throws the error.
   */
  codec?: Pick<Codec, 'encode' | 'decode'>
  /** Run for a long time. Messages stay objects, and a reducer that throws is handled as R8 demands. */
  live?: LivePlayer
  /** Whether outputs reach the inboxes of the played stages. Default: yes. */
  delivers?: boolean
}

export type LivePlayer = {
  /** The time of all records. */
  clock: Pick<Clock, 'now'>
  /** Receives each record that a reducer writes, also to a topic without a reader. */
  onWritten(topic: TopicName, message: Message, record: PlayedRecord): void
}

export type Player = {
  add<State, In extends Message, Task>(stage: Stage<State, In, Task>): PlayedStage<State, Task>
  /** The same, and loads the stage with its first record. */
  addLater<State, In extends Message, Task>(
    name: StageName,
    load: () => Promise<Stage<State, In, Task>>,
  ): Pick<PlayedStage<State, Task>, 'units'>
  /**
   * Appends a message to a topic. `failing`: the reason for which the reducer of this inbox fails
   * on it instead of applying it.
   */
  append(topic: TopicName, message: Message, options?: AppendOptions): void
  /** Applies records until all inboxes are empty, and returns all outputs. */
  settle(): Promise<Output[]>
  /** The same. A promise only if a unit has to be folded again, or a stage has to be loaded. */
  settleSoon(): Output[] | Promise<Output[]>
  /** The same in one go. Throws where `settleSoon` returns a promise. */
  settleNow(): Output[]
  /** Appends a tick for each unit that is due. Returns the time of the next one. */
  tick(): Milliseconds | undefined
  /** No unit is due before this time. */
  readonly nextDue: Milliseconds
  readonly records: readonly PlayedRecord[]
}

type AppendOptions = { time?: Milliseconds; failing?: string | undefined }

export type PlayedStage<State, Task> = {
  readonly units: ReadonlyMap<string, Unit<State>>
  /** The tasks that the open units of a conversation want. */
  tasks(conversation: ConversationId): Task[]
}

type Delivered = { record: PlayedRecord; message: Message }
type Inbox = {
  waiting: Delivered[]
  failures: Map<Offset, string>
  /** The units with a deadline. */
  due(): { tick: Tick; due: Milliseconds }[]
  apply(delivered: Delivered): Applied | Promise<Applied>
}

const partition = 0
/** Ids of absent stages name another partition, so they never fall below a played stage's mark. */
const absentPartition = 1
const noBytes = new Uint8Array()

export function createPlayer({
  log = { now: 0, ends: new Map() },
  topicPrefix = '',
  codec,
  live,
  delivers = true,
}: PlayerOptions = {}): Player {
  const inboxes = new Map<StageName, Inbox>()
  const byTopic = new Map<TopicName, Inbox>()
  const records: PlayedRecord[] = []
  let nextDue = Number.POSITIVE_INFINITY
  const timeNow = () => (live === undefined ? log.now + 1 : Math.max(log.now, live.clock.now()))

  return {
    records,
    add,
    addLater,
    get nextDue() {
      return nextDue
    },
    append(topic, message, { time = timeNow(), failing } = {}) {
      log.now = time
      const { offset } = write(topic, message, undefined, absentId(topic, message, log.ends))
      if (failing !== undefined) byTopic.get(topic)?.failures.set(offset, failing)
    },
    settle: async () => settleSoon(),
    settleSoon,
    settleNow() {
      const outputs = settleSoon()
      if (outputs instanceof Promise)
        throw new Error('a stage has to be loaded, or a unit to be folded again')
      return outputs
    },
    tick() {
      nextDue = Number.POSITIVE_INFINITY
      log.now = timeNow()
      for (const [topic, inbox] of byTopic)
        for (const { tick, due } of inbox.due()) {
          if (due <= log.now) write(topic, tick, undefined, undefined)
          else onDue(due)
        }
      return nextDue === Number.POSITIVE_INFINITY ? undefined : nextDue
    },
  }

  function add<State, In extends Message, Task>(
    stage: Stage<State, In, Task>,
  ): PlayedStage<State, Task> {
    const { inbox, played } = inboxOf(stage, { topicPrefix, codec, live, records, onDue })
    listen(stage.name, inbox)
    return played
  }

  function addLater<State, In extends Message, Task>(
    name: StageName,
    load: () => Promise<Stage<State, In, Task>>,
  ): Pick<PlayedStage<State, Task>, 'units'> {
    const failures = new Map<Offset, string>()
    let loaded: ReturnType<typeof inboxOf<State, In, Task>> | undefined
    listen(name, {
      waiting: [],
      failures,
      due: () => loaded?.inbox.due() ?? [],
      apply(delivered) {
        if (loaded !== undefined) return loaded.inbox.apply(delivered)
        return load().then((stage) => {
          loaded = inboxOf(stage, { topicPrefix, codec, live, records, onDue, failures })
          return loaded.inbox.apply(delivered)
        })
      },
    })
    const units: ReadonlyMap<string, Unit<State>> = new Map()
    return {
      get units() {
        return loaded?.played.units ?? units
      },
    }
  }

  function listen(name: StageName, inbox: Inbox): void {
    inboxes.set(name, inbox)
    byTopic.set(stages[name].inbox, inbox)
  }

  function onDue(due: Milliseconds): void {
    nextDue = Math.min(nextDue, due)
  }

  function settleSoon(): Output[] | Promise<Output[]> {
    const run = settling()
    return proceed(run.next())

    function proceed(step: ReturnType<typeof run.next>): Output[] | Promise<Output[]> {
      for (let at = step; ; ) {
        if (at.done) return at.value
        const { value } = at
        if (value instanceof Promise) return value.then((applied) => proceed(run.next(applied)))
        at = run.next(value)
      }
    }
  }

  function* settling(): Generator<Applied | Promise<Applied>, Output[], Applied> {
    const all: Output[] = []
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const [name, inbox] of inboxes)
        for (const delivered of inbox.waiting.splice(0)) {
          isMoving = true
          log.now = timeNow()
          const applied = yield inbox.apply(delivered)
          all.push(...applied.outputs)
          if (delivers) deliver(name, delivered.record.offset, applied)
        }
    }
    return all
  }

  function deliver(stage: StageName, offset: Offset, { outputs, records: encoded }: Applied): void {
    for (const [n, { to, message }] of outputs.entries()) {
      const topic = topicOf(stage, to, message)
      const id = formatId({ stage, partition, offset, n })
      if (topic === undefined) continue
      const record = write(topic, message, encoded[n]?.value ?? undefined, id)
      live?.onWritten(topic, message, record)
    }
  }

  function write(
    topic: TopicName,
    message: Message,
    bytes: Uint8Array | undefined,
    id: string | undefined,
  ): PlayedRecord {
    const offset = log.ends.get(topic) ?? 0
    log.ends.set(topic, offset + 1)
    const value = codec === undefined ? noBytes : (bytes ?? codec.encode(message))
    const record = { topic, partition, offset, time: log.now, key: keyOf(message), value, id }
    if (codec !== undefined) records.push(record)
    byTopic.get(topic)?.waiting.push({ record, message })
    return record
  }
}

type InboxOptions = Pick<PlayerOptions, 'codec' | 'live'> & {
  topicPrefix: string
  /** Of the log. */
  records: readonly PlayedRecord[]
  /** A unit has this deadline. */
  onDue(due: Milliseconds): void
  failures?: Map<Offset, string>
}

/** The inbox of a stage, with the fold of its records. */
function inboxOf<State, In extends Message, Task>(
  stage: Stage<State, In, Task>,
  { topicPrefix, codec, live, records, onDue, failures = new Map() }: InboxOptions,
): { inbox: Inbox; played: PlayedStage<State, Task> } {
  const { inbox: topic } = stages[stage.name]
  const kept = live && keptUnits<State>()
  let applied: Message | undefined
  const fold = createFold({
    stage,
    partition,
    topicPrefix,
    marks: {},
    readBack,
    failures,
    decode: () => applied as Message,
    encode: undefined,
    ...codec,
    throws: codec === undefined && live === undefined,
    copyOf: kept?.copyOf,
  })

  function prefixed(record: PlayedRecord): StoredRecord {
    return topicPrefix === '' ? record : { ...record, topic: topicPrefix + record.topic }
  }

  async function* readBack(from: Offset, to: Offset, unit: string) {
    const isBetween = ({ offset }: PlayedRecord) => from <= offset && offset < to
    if (codec !== undefined)
      yield records.filter((record) => record.topic === topic && isBetween(record)).map(prefixed)
    for (const { record, message } of kept?.since(unit) ?? []) {
      applied = message
      yield [prefixed(record)]
    }
  }

  function noted(delivered: Delivered, done: Applied): Applied {
    const unit = done.unit === undefined ? undefined : fold.units.get(done.unit)
    if (done.unit !== undefined) kept?.applied(done.unit, unit, delivered)
    const due = unit && stage.due(unit.state)
    if (due !== undefined) onDue(due)
    return done
  }

  return {
    inbox: {
      waiting: [],
      failures,
      due: () =>
        [...fold.units].flatMap(([unit, { state, conversation }]) => {
          const due = stage.due(state)
          return due === undefined ? [] : [{ tick: { type: 'tick', conversation, unit }, due }]
        }),
      apply(delivered) {
        applied = delivered.message
        const done = fold.apply(prefixed(delivered.record))
        return done instanceof Promise
          ? done.then((later) => noted(delivered, later))
          : noted(delivered, done)
      },
    },
    played: {
      units: fold.units,
      tasks: (conversation) =>
        [...fold.units.values()].flatMap((unit) =>
          unit.conversation === conversation ? stage.wants(unit.state) : [],
        ),
    },
  }
}

/**
 * The id of a record whose stage is not played. Undefined: no reducer writes this type, or an
 * observer may still have written it.
 */
function absentId(
  topic: TopicName,
  { type }: Message,
  ends: PlayedLog['ends'],
): string | undefined {
  if (topics[topic].formerly?.[type] !== undefined) return undefined
  const writers = topics[topic].records[type] ?? []
  const stage = writers.includes('runtime of any stage')
    ? 'conversation'
    : writers.find((writer) => writer in stages)
  const offset = ends.get(topic) ?? 0
  return stage && formatId({ stage, partition: absentPartition, offset, n: 0 })
}

/** For each open unit a copy of its state, and the records applied since. */
function keptUnits<State>() {
  const units = new Map<string, { copy: Unit<State> | undefined; since: Delivered[] }>()
  return {
    applied(key: string, unit: Unit<State> | undefined, delivered: Delivered): void {
      if (unit === undefined) return void units.delete(key)
      const known = units.get(key)
      if (known === undefined || unit.first === delivered.record.offset)
        units.set(key, { copy: undefined, since: [delivered] })
      else if (known.since.push(delivered) > memoryRecordsKeptMax)
        units.set(key, { copy: structuredClone(unit), since: [] })
    },
    /** A copy that the caller may change. */
    copyOf: (key: string) => structuredClone(units.get(key)?.copy),
    since: (key: string) => units.get(key)?.since ?? [],
  }
}
