// Copies the selected records of a log: all records of a conversation's stretch, the history that
// its requests read, its dead letters, and the table of policies. It copies no record of another
// conversation.
// A record belongs to the turn that it names. An unreadable record belongs to the stretch
// in whose time it was written.
// Memory: one batch, and a few numbers for each turn.

import { leadersApartMs } from '../../shared/bus/range.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { StoredRecord, TopicKind } from '../../shared/contract/bus.ts'
import { historyConversation } from '../../shared/contract/history/history-keys.ts'
import type { DeadLetter, Message } from '../../shared/contract/messages.ts'
import {
  type GuardTopicName,
  guardTopic,
  guardTopicName,
  inboxOf,
  stages,
  type TopicName,
  topics,
} from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { parseId } from '../../shared/runtime/derived-id.ts'
import { endsOf, type ReadableLog } from '../history/readable-log.ts'
import { scanAll } from '../history/scan.ts'
import type { Selection } from './selection.ts'
import type { Stretch } from './stretches.ts'

/** Running stages write the outputs of a record within this time. */
const afterMs: Milliseconds = 10 * 60 * 1000

/** Receives the copied records by topic, partition and offset. Their topics have no prefix. */
export type RecordSink = {
  topic(name: TopicName | GuardTopicName, kind: TopicKind): void
  /** `message` is undefined for the history, a tombstone and an unreadable record. */
  add(topic: TopicName | GuardTopicName, record: StoredRecord, message: Message | undefined): void
}

type Copying = {
  log: ReadableLog
  selection: Selection
  sink: RecordSink
  signal: AbortSignal
  /** Places of messages in client-messages: those of the copied records of inboxes. */
  messages: Set<string>
}

/** Copied last: the inbox names the messages whose copies it holds. */
const clients: TopicName = 'client-messages'
/** Copied first: an end in model-requests carries parts that a redaction reads with all others. */
const parts: TopicName = 'model-deltas'
const copiedTopics = [
  parts,
  ...(Object.keys(topics) as TopicName[]).filter((topic) => topic !== clients && topic !== parts),
]

/** Ends early when `signal` aborts. */
export async function copySelection(options: Omit<Copying, 'messages'>): Promise<void> {
  const copying: Copying = { ...options, messages: new Set() }
  const guards = new Set<GuardTopicName>()
  await copyTopics(copying, copiedTopics, guards)
  await copyTopics(
    copying,
    [...guards].filter((name) => !Object.hasOwn(topics, name)).sort(),
    guards,
  )
  await copyTopics(copying, [clients], guards)
}

type Place = {
  topic: TopicName | GuardTopicName
  kind: TopicKind
  partition: number
  since: Milliseconds
}

async function copyTopics(
  copying: Copying,
  names: readonly (TopicName | GuardTopicName)[],
  guards: Set<GuardTopicName>,
): Promise<void> {
  const { log, selection, sink, signal } = copying
  const places: Place[] = []
  for (const topic of names) places.push(...(await placesOf(copying, topic)))
  for await (const { scanned, batches } of scanAll(log, places)) {
    const { topic, kind } = scanned
    for await (const records of batches) {
      if (signal.aborted) return
      for (const record of records) {
        const message = topic === 'history' ? undefined : messageOf(record.value)
        if (!isSelected({ ...copying, topic, record, message })) continue
        if (hasCopies(topic)) noteMessage(record, copying.messages)
        sink.add(topic, { ...record, topic }, message)
        if (message !== undefined) noteGuards(message, guards)
      }
      if (kind === 'log' && (records.at(-1)?.time ?? 0) > selection.window.to + afterMs) break
    }
  }
}

/** Empty if the log is older than the topic. */
async function placesOf(
  { log, selection, sink }: Copying,
  topic: TopicName | GuardTopicName,
): Promise<Place[]> {
  const ends = await endsOf(log, topic)
  if (ends.length === 0) return []
  const { kind } = topic in topics ? topics[topic as TopicName] : guardTopic
  sink.topic(topic, kind)
  // A dead letter has the partition of its record, which may be a wrong one. A policy can have any.
  const isAnywhere = topic === 'dead-letters' || topic === 'policies'
  const since = kind === 'table' ? 0 : Math.max(0, selection.window.from - leadersApartMs)
  return ends
    .filter((one) => isAnywhere || selection.partitions.includes(one.partition))
    .map(({ partition }) => ({ topic, kind, partition, since }))
}

function isSelected({
  topic,
  record,
  message,
  selection,
  messages,
  log: { topicPrefix },
}: Copying & { topic: string; record: StoredRecord; message: Message | undefined }): boolean {
  if (topic === 'policies') return true
  // Budgets are of a whole tenant, evidence counts in its own log only, and a bundle is readable.
  if (topic === 'budgets' || topic === 'audit' || topic === 'conversation-keys') return false
  if (topic === clients) return messages.has(`${record.partition}/${record.offset}`)
  const conversation = topic === 'history' ? historyConversation(record.key) : record.key
  const stretch = conversation === undefined ? undefined : selection.stretchOf(conversation)
  if (stretch === undefined) return false
  // An entry that was deleted later still existed then.
  if (topic === 'history') return record.value !== null && turnIn(record.key) <= stretch.last
  if (topic === inboxOf(stretch.conversation)) return isInInbox(stretch, record.offset)
  if (message?.type === 'dead-letter') return isDeadLetterOf(stretch, message, topicPrefix)
  return isInStretch(stretch, message, record.time)
}

/** Whether intake copies messages into it that a bundle needs. */
function hasCopies(topic: string): boolean {
  return topic === stages.conversation.inbox || topic === stages.executor.inbox
}

/** The id of a copy names its message. */
function noteMessage({ id }: StoredRecord, messages: Set<string>): void {
  const copied = parseId(id)
  if (copied?.stage === 'intake') messages.add(`${copied.partition}/${copied.offset}`)
}

function isInInbox({ from, last }: Stretch, offset: number): boolean {
  return from <= offset && offset <= last
}

function isDeadLetterOf(stretch: Stretch, letter: DeadLetter, topicPrefix: string): boolean {
  if (letter.topic === topicPrefix + inboxOf(stretch.conversation))
    return isInInbox(stretch, letter.offset)
  return isInStretch(stretch, messageOf(letter.value), letter.time)
}

function isInStretch(
  { first, last, beganAt, lastAt }: Stretch,
  message: Message | undefined,
  time: Milliseconds,
): boolean {
  const turn = message === undefined ? undefined : turnOf(message)
  if (turn === undefined) return beganAt - leadersApartMs <= time && time <= lastAt + leadersApartMs
  return first <= turn && turn <= last
}

function turnOf(message: Message): number | undefined {
  if ('turn' in message && typeof message.turn === 'number') return message.turn
  return message.type === 'tick' ? turnIn(message.unit) : undefined
}

/**
 * The turn in a key of the history or of a unit: lists that begin with conversation and turn. A
 * conversation's unit has none.
 */
function turnIn(list: string): number {
  try {
    const [, turn] = JSON.parse(list) as unknown[]
    return typeof turn === 'number' ? turn : 0
  } catch {
    return 0
  }
}

function noteGuards(message: Message, guards: Set<GuardTopicName>): void {
  if (message.type === 'round-cleared')
    for (const { name } of message.policy.guards) guards.add(guardTopicName(name))
  if (message.type === 'guard-registration') guards.add(guardTopicName(message.name))
}
