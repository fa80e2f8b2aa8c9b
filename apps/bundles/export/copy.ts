// Reads what was chosen of a log: of each chosen conversation all records of its stretch, the
// history that its requests read, and dead letters of it; and the table of policies. Nothing else:
// who was not chosen leaves no trace.
// COPY-1. Which turn a record is of says the record itself. What cannot be read is of the stretch
//     in whose time it was written.
// COPY-2. Memory: one batch, and a few numbers for each turn.

import { leadersApartMs } from '../../../shared/bus/range.ts'
import type { StoredRecord, TopicKind } from '../../../shared/contract/bus.ts'
import type { DeadLetter, Message } from '../../../shared/contract/messages.ts'
import {
  type GuardTopicName,
  guardTopic,
  guardTopicName,
  historyConversation,
  type TopicName,
  topics,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { messageOf } from '../../history/message-of.ts'
import { endsOf, type OpenLog } from '../../history/open-log.ts'
import { scanAll } from '../../history/scan.ts'
import type { Chosen } from './chosen.ts'
import type { Stretch } from './stretches.ts'

/** What a record leads to is written within this time, unless nobody runs. */
const afterMs: Milliseconds = 10 * 60 * 1000

const inbox: TopicName = 'conversation-events'

/**
 * Takes what is copied, by topic, partition and offset. `topic` of a record: without the prefix.
 */
export type Taker = {
  topic(name: TopicName | GuardTopicName, kind: TopicKind): void
  /** `message` undefined: of the history, a tombstone, or what cannot be read. */
  take(topic: TopicName | GuardTopicName, record: StoredRecord, message: Message | undefined): void
}

type Copying = { log: OpenLog; chosen: Chosen; taker: Taker; signal: AbortSignal }

/** Ends early when `signal` aborts. */
export async function copyChosen(copying: Copying): Promise<void> {
  const guards = new Set<GuardTopicName>()
  await copyTopics(copying, Object.keys(topics) as TopicName[], guards)
  await copyTopics(
    copying,
    [...guards].filter((name) => !Object.hasOwn(topics, name)).sort(),
    guards,
  )
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
  const { log, chosen, taker, signal } = copying
  const places: Place[] = []
  for (const topic of names) places.push(...(await placesOf(copying, topic)))
  for await (const { scanned, batches } of scanAll(log, places)) {
    const { topic, kind } = scanned
    for await (const records of batches) {
      if (signal.aborted) return
      for (const record of records) {
        const message = topic === 'history' ? undefined : messageOf(record.value)
        if (!isChosen(topic, record, message, chosen, log.topicPrefix)) continue
        taker.take(topic, { ...record, topic }, message)
        if (message !== undefined) noteGuards(message, guards)
      }
      if (kind === 'log' && (records.at(-1)?.time ?? 0) > chosen.window.to + afterMs) break
    }
  }
}

/** None where the log is older than the topic. */
async function placesOf(
  { log, chosen, taker }: Copying,
  topic: TopicName | GuardTopicName,
): Promise<Place[]> {
  const ends = await endsOf(log, topic)
  if (ends.length === 0) return []
  const { kind } = topic in topics ? topics[topic as TopicName] : guardTopic
  taker.topic(topic, kind)
  // A dead letter stands where its record stood, which may have been a wrong partition; a policy
  // stands anywhere.
  const isAnywhere = topic === 'dead-letters' || topic === 'policies'
  const since = kind === 'table' ? 0 : Math.max(0, chosen.window.from - leadersApartMs)
  return ends
    .filter((one) => isAnywhere || chosen.partitions.includes(one.partition))
    .map(({ partition }) => ({ topic, kind, partition, since }))
}

function isChosen(
  topic: string,
  record: StoredRecord,
  message: Message | undefined,
  chosen: Chosen,
  topicPrefix: string,
): boolean {
  if (topic === 'policies') return true
  const conversation = topic === 'history' ? historyConversation(record.key) : record.key
  const stretch = conversation === undefined ? undefined : chosen.stretchOf(conversation)
  if (stretch === undefined) return false
  if (topic === 'history') return record.value !== null && turnIn(record.key) <= stretch.last // what was taken away later was there then
  if (topic === inbox) return isInInbox(stretch, record.offset)
  if (message?.type === 'dead-letter') return isDeadLetterOf(stretch, message, topicPrefix)
  return isInStretch(stretch, message, record.time)
}

function isInInbox({ from, last }: Stretch, offset: number): boolean {
  return from <= offset && offset <= last
}

function isDeadLetterOf(stretch: Stretch, letter: DeadLetter, topicPrefix: string): boolean {
  if (letter.topic === topicPrefix + inbox) return isInInbox(stretch, letter.offset)
  return isInStretch(stretch, messageOf(letter.value), letter.time)
}

/** Keeps COPY-1. */
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
 * Of a key of the history or a unit, which are lists that begin with conversation and turn. A
 * conversation's own unit names none.
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
