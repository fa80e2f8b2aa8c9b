// The in-memory player: runs reducers without a bus and without a clock. The caller appends the
// records that performers, clients and absent stages write. The player derives the rest.
// IN-MEMORY-1. Each record goes through the runtime's fold, so a reducer sees offsets, times,
//     earlier records and ticks as it does live.
// IN-MEMORY-2. Time moves by one millisecond with each appended and each applied record. All
//     outputs of one record have the same time, as in a log.

import { encode } from '../codec/codec.ts'
import type { Offset, StoredRecord } from '../contract/bus.ts'
import type { ConversationId } from '../contract/ids.ts'
import type { Message } from '../contract/messages.ts'
import type { Output, Stage } from '../contract/stage.ts'
import {
  keyOf,
  type StageName,
  stages,
  type TopicName,
  topicOf,
  topics,
} from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { formatId } from './derived-id.ts'
import { type Applied, createFold, type Unit } from './fold.ts'

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
  isLog?: boolean
  /** Whether outputs reach the inboxes of the played stages. Default: yes. */
  delivers?: boolean
}

export type Player = {
  add<State, In extends Message, Task>(stage: Stage<State, In, Task>): PlayedStage<State, Task>
  /**
   * Appends a message to a topic. `failing`: the reason for which the reducer of this inbox fails
   * on it instead of applying it.
   */
  append(topic: TopicName, message: Message, options?: AppendOptions): void
  /** Applies records until all inboxes are empty, and returns all outputs. */
  settle(): Promise<Output[]>
  /** The same in one go. Not for `isLog`, where a unit may have to be folded again. */
  settleNow(): Output[]
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
  apply(delivered: Delivered): Applied | Promise<Applied>
}

const partition = 0
/** Ids of absent stages name another partition, so they never fall below a played stage's mark. */
const absentPartition = 1
const noBytes = new Uint8Array()

export function createPlayer({
  log = { now: 0, ends: new Map() },
  topicPrefix = '',
  isLog = false,
  delivers = true,
}: PlayerOptions = {}): Player {
  const inboxes = new Map<StageName, Inbox>()
  const byTopic = new Map<TopicName, Inbox>()
  const records: PlayedRecord[] = []
  return {
    records,
    add,
    append(topic, message, { time = log.now + 1, failing } = {}) {
      log.now = time
      const offset = write(topic, message, undefined, absentId(topic, message, log.ends))
      if (failing !== undefined) byTopic.get(topic)?.failures.set(offset, failing)
    },
    async settle() {
      const run = settling()
      let step = run.next()
      while (!step.done) step = run.next(await step.value)
      return step.value
    },
    settleNow() {
      const run = settling()
      let step = run.next()
      while (!step.done) {
        if (step.value instanceof Promise) throw new Error('a log is settled asynchronously')
        step = run.next(step.value)
      }
      return step.value
    },
  }

  function add<State, In extends Message, Task>(
    stage: Stage<State, In, Task>,
  ): PlayedStage<State, Task> {
    const { inbox: topic } = stages[stage.name]
    const failures = new Map<Offset, string>()
    let applied: Message | undefined
    const fold = createFold({
      stage,
      partition,
      topicPrefix,
      marks: {},
      readBack,
      failures,
      ...(isLog ? {} : { encodes: false, throws: true, decode: () => applied as Message }),
    })
    async function* readBack(from: Offset, to: Offset) {
      const isBetween = ({ offset }: PlayedRecord) => from <= offset && offset < to
      yield records.filter((record) => record.topic === topic && isBetween(record)).map(prefixed)
    }
    const inbox: Inbox = {
      waiting: [],
      failures,
      apply({ record, message }) {
        applied = message
        return fold.apply(prefixed(record))
      },
    }
    inboxes.set(stage.name, inbox)
    byTopic.set(topic, inbox)
    return {
      units: fold.units,
      tasks: (conversation) =>
        [...fold.units.values()].flatMap((unit) =>
          unit.conversation === conversation ? stage.wants(unit.state) : [],
        ),
    }
  }

  function* settling(): Generator<Applied | Promise<Applied>, Output[], Applied> {
    const all: Output[] = []
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const [name, inbox] of inboxes)
        for (const delivered of inbox.waiting.splice(0)) {
          isMoving = true
          log.now += 1
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
      if (topic !== undefined) write(topic, message, encoded[n]?.value ?? undefined, id)
    }
  }

  function write(
    topic: TopicName,
    message: Message,
    bytes: Uint8Array | undefined,
    id: string | undefined,
  ): Offset {
    const offset = log.ends.get(topic) ?? 0
    log.ends.set(topic, offset + 1)
    const value = isLog ? (bytes ?? encode(message)) : noBytes
    const record = { topic, partition, offset, time: log.now, key: keyOf(message), value, id }
    if (isLog) records.push(record)
    byTopic.get(topic)?.waiting.push({ record, message })
    return offset
  }

  function prefixed(record: PlayedRecord): StoredRecord {
    return { ...record, topic: topicPrefix + record.topic }
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
