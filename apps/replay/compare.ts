// Folds one partition again, each inbox by the runtime's fold, and compares the outputs with the
// log.
// Only records of the log are folded. No stage reads an output of the replay, so one
// difference causes no second one elsewhere.
// Each record is read once, for its reader's fold and for the stage that wrote it.
// A record that is missing because the log grew meanwhile is no difference. Neither is a
// record that cannot be judged (log-range.ts).

import type { AnyStage } from '../../services/reducers.ts'
import { batchesOf, leadersApartMs } from '../../shared/bus/range.ts'
import { typeIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { Offset, StoredRecord } from '../../shared/contract/bus.ts'
import { historyConversation } from '../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import {
  type StageName,
  stages,
  type TopicName,
  topics,
  topicsWrittenBy,
} from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { parseId } from '../../shared/runtime/derived-id.ts'
import type { Applied, Fold } from '../../shared/runtime/fold.ts'
import { foldOfLog } from '../../shared/runtime/log/log-fold.ts'
import { type Beginnings, beginningsIn, wholeLog } from './beginnings.ts'
import { type Difference, sameness } from './difference.ts'
import { inTurns } from './lanes.ts'
import type { PartitionRange, ReadLog, TopicRange } from './log-range.ts'
import { type Again, createPair, type Found, type Pair } from './pair.ts'

export type CompareOptions = {
  log: ReadLog
  range: PartitionRange
  stages: readonly AnyStage[]
  /** Compares only the records of these conversations. */
  conversations: ReadonlySet<ConversationId> | undefined
  /** Whether others may write the log while it is read. */
  grows: boolean
  now: Milliseconds
  tally: Tally
  /** Called with each difference, in no order. */
  differs(difference: Difference): void
  read(records: number): void
}

/** Counts over all partitions. */
export type Tally = {
  /** Records read from the log. */
  records: number
  /** Records that a stage wrote again, equal to those of the log. */
  same: number
  /** Equal records that have another schema version in the log, so their contents were compared. */
  sameContent: number
  /**
   * Records that the log does not have yet: their stage is behind, or they are beyond the range.
   */
  awaited: number
  /** Records that a table or a trimmed log no longer has. */
  deleted: number
  /** Not judged: the beginning of their unit is missing. */
  unjudged: number
  /** The first keys of units that were not judged. */
  unjudgedKeys: Set<string>
  turns: number
  /** The version of Weir in the first attempt that names one. */
  writtenBy: string | undefined
}

export function beginTally(): Tally {
  return {
    records: 0,
    same: 0,
    sameContent: 0,
    awaited: 0,
    deleted: 0,
    unjudged: 0,
    unjudgedKeys: new Set(),
    turns: 0,
    writtenBy: undefined,
  }
}

/** Its records get their links as they are written, so a fold cannot repeat them. */
const linkedTopic: TopicName = 'audit'

/** Waiting bytes of one side, above which the other side is read first. */
const waitingBytesMax = 16 * 1024 * 1024
const unjudgedNamesMax = 100
/**
 * Differences whose units may not have begun in the range. Above this number they are checked
 * against the records read so far.
 */
const heldMax = 1_000
/**
 * A table drops an entry only if its conversation was idle for longer than a turn may take
 * (shared/contract/retention.ts).
 */
const tableKeptMs: Milliseconds = 24 * 60 * 60 * 1000

type Replayed = {
  stage: AnyStage
  inbox: TopicRange
  fold: Fold<unknown>
  /** The fold has no record before the offset from which on it begins anew. */
  isAnew: boolean
  /** By the output topic, with the prefix. */
  pairs: Map<string, Pair>
  /** The newest record of its inbox with an output in the log, within the first ends of the log. */
  writtenTo: Offset
}

export async function comparePartition(options: CompareOptions): Promise<void> {
  const { log, range, tally, conversations } = options
  const { partition } = range
  const byTopic = new Map(range.topics.map((topic) => [topic.topic, topic]))
  const beginnings = beginningsOf(range)
  const replayed = new Map<StageName, Replayed>()
  const readers = new Map<string, Replayed>()
  const forgotten = new Set<ConversationId>()
  const audit = log.topicPrefix + linkedTopic
  let held: Difference[] = []
  for (const stage of options.stages) await begin(stage)

  for await (const { range: topic, records } of inTurns(
    log.bus,
    range.topics.filter(isOfStages),
    (topic) => isAhead(replayed.values(), topic),
  )) {
    const reader = readers.get(topic.topic)
    const isEvents = topic.name === stages.conversation.inbox
    const hasVersion = topic.name === stages['llm-gateway'].inbox
    for (const record of records) {
      if (conversations?.has(conversationOf(topic.name, record)) === false) continue
      if (record.id !== undefined) logged(topic, record, record.id)
      if (isNoteOfDeletion(record)) forgotten.add(record.key)
      if (reader === undefined || record.offset >= topic.to) continue
      if (isEvents) beginnings.read(record)
      if (!reader.isAnew && record.offset >= topic.anewAt) await beginAnew(reader)
      if (hasVersion) tally.writtenBy ??= writerOf(record)
      const taking = reader.fold.apply(record)
      written(reader, record, taking instanceof Promise ? await taking : taking)
    }
    const next = (records.at(-1)?.offset ?? -1) + 1
    if (reader !== undefined)
      for (const pair of reader.pairs.values()) pair.foldedTo(Math.min(next, topic.to))
    tally.records += records.length
    options.read(records.length)
    if (held.length > heldMax)
      held = await settle(held, 'so far', { beginnings, forgotten }, options)
  }

  for (const one of replayed.values()) finish(one)
  await settle(held, 'all', { beginnings, forgotten }, options)

  function isOfStages({ topic }: TopicRange): boolean {
    return readers.has(topic) || [...replayed.values()].some(({ pairs }) => pairs.has(topic))
  }

  async function begin(stage: AnyStage): Promise<void> {
    const inbox = range.topics.find(({ name }) => name === stages[stage.name].inbox)
    if (inbox === undefined) return // the log is older than the stage
    const one: Replayed = {
      stage,
      inbox,
      fold: await foldOf(stage, inbox, options),
      isAnew: inbox.anewAt === 0,
      pairs: new Map(),
      writtenTo: -1,
    }
    for (const name of topicsWrittenBy(stage.name)) {
      const topic = byTopic.get(log.topicPrefix + name)
      if (topic !== undefined && name !== linkedTopic)
        one.pairs.set(
          topic.topic,
          createPair((found) => onFound(one, topic, found)),
        )
    }
    replayed.set(stage.name, one)
    readers.set(inbox.topic, one)
  }

  /** The stages of an imported log began after its last imported record. */
  async function beginAnew(reader: Replayed): Promise<void> {
    reader.isAnew = true
    reader.fold = await foldOf(reader.stage, reader.inbox, options)
  }

  function logged(topic: TopicRange, record: StoredRecord, idText: string): void {
    const id = parseId(idText)
    if (id === undefined || id.partition !== partition) return
    const writer = replayed.get(id.stage as StageName)
    if (writer === undefined) return // a fold that reads this record reports it
    // the input is not in the range
    if (id.offset < writer.inbox.from || id.offset >= writer.inbox.to) return
    if (record.offset < topic.to) writer.writtenTo = Math.max(writer.writtenTo, id.offset)
    writer.pairs.get(topic.topic)?.logged(record, id)
  }

  function written({ pairs }: Replayed, input: StoredRecord, { records, outputs }: Applied): void {
    // Some more records are read than judged, because the brokers' clocks differ.
    for (const { message } of outputs)
      if (message.type === 'turn-started' && range.hasTurn?.(message) !== false) tally.turns += 1
    records.forEach((record, n) => {
      if (record.topic === audit) return
      const pair = pairs.get(record.topic)
      if (pair === undefined)
        tally.awaited += 1 // the log is older than that topic
      else pair.again({ record, n, input })
    })
  }

  function onFound(writer: Replayed, topic: TopicRange, found: Found): void {
    const same = found.kind === 'both' ? sameness(found.logged, found.again.record) : 'no'
    if (same !== 'no') tally.same += 1
    if (same === 'content') tally.sameContent += 1
    if (same !== 'no') return
    if (found.kind === 'missing' && isDeleted(found.again, topic, range)) tally.deleted += 1
    else held.push(differenceOf(writer, found))
  }

  /** Reports the records of the fold that the log does not have. */
  function finish(writer: Replayed): void {
    for (const [topic, pair] of writer.pairs) {
      pair.foldedTo(writer.inbox.to)
      for (const again of pair.rest()) {
        const isOnItsWay = options.grows && again.input.time > options.now - leadersApartMs
        if (again.input.offset > writer.writtenTo || isOnItsWay) tally.awaited += 1
        else onFound(writer, byTopic.get(topic) as TopicRange, { kind: 'missing', again })
      }
    }
  }
}

function beginningsOf({ hasTurn, topics: ranges }: PartitionRange): Beginnings {
  if (hasTurn === undefined) return wholeLog
  const events = ranges.find(({ name }) => name === stages.conversation.inbox)
  return beginningsIn({ hasTurn, eventsFrom: events?.from ?? 0, anewAt: events?.anewAt })
}

function foldOf(
  stage: AnyStage,
  { topic }: TopicRange,
  { log, range: { partition }, conversations }: CompareOptions,
): Promise<Fold<unknown>> {
  return foldOfLog(log, stage, partition, {
    async *readBack(from, to) {
      for await (const records of batchesOf(log.bus, { topic, partition, from, to }))
        yield records.filter(({ key }) => conversations?.has(key) !== false)
    },
  })
}

/** Whether too many bytes of this topic wait for their other side. */
function isAhead(replayed: Iterable<Replayed>, { topic }: TopicRange): boolean {
  for (const { inbox, pairs } of replayed) {
    if ((pairs.get(topic)?.waiting.logged ?? 0) > waitingBytesMax) return true
    if (inbox.topic !== topic) continue
    for (const { waiting } of pairs.values()) if (waiting.again > waitingBytesMax) return true
  }
  return false
}

function isDeleted({ input }: Again, { gone, name }: TopicRange, range: PartitionRange): boolean {
  return gone || (topics[name].kind === 'table' && input.time < range.newest - tableKeptMs)
}

function differenceOf({ stage: { name: stage }, inbox }: Replayed, found: Found): Difference {
  switch (found.kind) {
    case 'both':
      return { kind: 'differs', stage, ...of(found.again), logged: found.logged }
    case 'missing':
      return { kind: 'missing', stage, ...of(found.again), logged: undefined }
    case 'added': {
      const { logged, id } = found
      const input = { topic: inbox.topic, partition: id.partition, offset: id.offset }
      return { kind: 'added', stage, input, inputRecord: undefined, logged, again: undefined }
    }
  }
}

/** Decides which held differences count, and returns those that stay held:. */
async function settle(
  held: readonly Difference[],
  until: 'so far' | 'all',
  known: { beginnings: Beginnings; forgotten: ReadonlySet<ConversationId> },
  options: CompareOptions,
): Promise<Difference[]> {
  const { tally } = options
  const undecided: Difference[] = []
  for (const difference of held) {
    const { stage, input, inputRecord, logged } = difference
    const begun = known.beginnings.begun(
      stage,
      (inputRecord ?? logged)?.value ?? null,
      input.offset,
    )
    if (begun === 'unknown' && until === 'so far') undecided.push(difference)
    else if (begun === 'yes' && (await isInputThere(difference, known.forgotten, options)))
      options.differs(difference)
    else {
      tally.unjudged += 1
      if (tally.unjudgedKeys.size < unjudgedNamesMax)
        tally.unjudgedKeys.add((inputRecord ?? logged)?.key ?? '')
    }
  }
  return undecided
}

function isNoteOfDeletion({ value }: StoredRecord): boolean {
  return value !== null && typeIn(value) === 'conversation-forgotten'
}

/**
 * A log has all records between its ends, except of deleted conversations. A bundle can lack records
 * that belong to no turn.
 */
async function isInputThere(
  { inputRecord, logged, input: { topic, partition, offset } }: Difference,
  forgotten: ReadonlySet<ConversationId>,
  { log, range }: CompareOptions,
): Promise<boolean> {
  const mayLack = range.hasTurn !== undefined || forgotten.has(logged?.key ?? '')
  if (inputRecord !== undefined || !mayLack) return true
  const records = await log.bus.read({ topic, partition, from: offset, to: offset + 1, limit: 1 })
  return records.length > 0
}

function of({ record, input }: Again) {
  const { topic, partition, offset } = input
  return { input: { topic, partition, offset }, inputRecord: input, again: record }
}

/** Undefined: the record names no version. */
function writerOf({ value }: StoredRecord): string | undefined {
  if (value === null || typeIn(value) !== 'attempt-started') return undefined
  const message = messageOf(value)
  return message?.type === 'attempt-started' && message.weir !== '' ? message.weir : undefined
}

/**
 * The key of a table's entry begins with the conversation. Dead letters keep the key of their
 * record.
 */
function conversationOf(topic: TopicName, { key }: StoredRecord): ConversationId {
  return topics[topic].kind === 'table' ? (historyConversation(key) ?? key) : key
}
