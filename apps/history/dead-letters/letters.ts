// Reads dead letters from the log, finds the record of each, and decides whether it can be written
// again.

import { endsOf } from '../../../client/history/readable-log.ts'
import { scan } from '../../../client/history/scan.ts'
import { decode } from '../../../shared/codec/codec.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Offset, StoredRecord } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { DeadLetter, Message, MessageType } from '../../../shared/contract/messages.ts'
import {
  keyOf,
  nameWithoutPrefix,
  stageNames,
  type TopicName,
  topics,
  type Writer,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { errorCodes, usageError, type WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import type { OpenLog } from '../open-log.ts'

/**
 * `place`: `PARTITION/OFFSET` in the topic of dead letters; people use it as the name. `at`: the
 * time of the letter.
 */
export type Letter = { place: string; at: Milliseconds; letter: DeadLetter }

export type LetterFilter = {
  conversation?: ConversationId
  stage?: string
  code?: string
  since?: string
}

/**
 * By partition, then in the order of the log. `onUnreadable`: called for each letter that cannot be
 * read and may match, because it is encrypted or damaged. Throws `usage`.
 */
export async function* lettersIn(
  log: OpenLog,
  { conversation, stage, code, since }: LetterFilter,
  onUnreadable: () => void = () => {},
): AsyncGenerator<Letter> {
  if (stage !== undefined && !stageNames.some((name) => name === stage)) throw noStage(stage)
  if (code !== undefined && !errorCodes.some((known) => known === code)) throw noCode(code)
  const from = since === undefined ? 0 : instantOfFlag('--since', since, log.bus.clock.now())
  for (const { partition } of await endsOf(log, 'dead-letters'))
    for await (const records of scan(log, { topic: 'dead-letters', partition, since: from }))
      for (const record of records) {
        const letter = messageOf(record.value)
        if (conversation !== undefined && record.key !== conversation) continue
        if (letter?.type !== 'dead-letter') {
          if (record.value !== null) onUnreadable()
          continue
        }
        if ((stage ?? letter.stage) !== letter.stage || (code ?? letter.code) !== letter.code)
          continue
        yield letterAt(record, letter)
      }
}

/** The end of a list of letters. Undefined: nothing to add. */
export function endOfLetters(found: number, unreadable: number): string | undefined {
  if (unreadable === 0) return found === 0 ? 'no dead letter matches' : undefined
  return found === 0
    ? `${count(unreadable, 'dead letter')} cannot be read, and no other matches`
    : `${count(unreadable, 'more dead letter')} cannot be read`
}

function noStage(given: string): WeirError {
  const near = nearestName(given, stageNames)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return usageError(
    `unknown stage '${printable(given)}' (--stage).${meant} Stages: ${stageNames.join(', ')}`,
  )
}

/**
 * A letter may have any error code. Usually its code names a fault of the bytes, or an assertion of
 * ours.
 */
const usualCodes = errorCodes.filter(
  (code) => code.startsWith('codec.') || code.startsWith('runtime.'),
)

function noCode(given: string): WeirError {
  const near = nearestName(given, errorCodes)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return usageError(
    `unknown code '${printable(given)}' (--code).${meant} Most letters have one of ${usualCodes.join(', ')}`,
  )
}

/** Throws `usage` if there is no dead letter at this place. */
export async function letterNamed(log: OpenLog, place: string): Promise<Letter> {
  const [, partition = '', offset = ''] = /^(\d{1,5})\/(\d{1,15})$/.exec(place) ?? []
  if (partition === '')
    throw usageError(
      `'${printable(place)}' is not a dead letter: give PARTITION/OFFSET from weir dead-letters list`,
    )
  const isThere = (await endsOf(log, 'dead-letters')).some(
    (ends) => ends.partition === Number(partition),
  )
  const range = {
    topic: `${log.topicPrefix}dead-letters`,
    partition: Number(partition),
    from: Number(offset),
    to: Number(offset) + 1,
    limit: 1,
  }
  const [record] = isThere ? await log.bus.read(range) : []
  const letter = record && messageOf(record.value)
  if (record === undefined || letter?.type !== 'dead-letter')
    throw usageError(`there is no dead letter ${place}: weir dead-letters list shows all`)
  return letterAt(record, letter)
}

function letterAt({ partition, offset, time }: StoredRecord, letter: DeadLetter): Letter {
  return { place: `${partition}/${offset}`, at: time, letter }
}

/**
 * `isWhole`: false if only the beginning is left. `id`: known only while the record is still in its
 * topic.
 */
export type Original = {
  topic: TopicName | undefined
  key: string
  value: Uint8Array
  id: string | undefined
  isWhole: boolean
}

/**
 * The record of a dead letter: from its topic, or the part that the letter kept.
 */
export async function originalOf(
  log: OpenLog,
  { topic, partition, offset, key, value }: DeadLetter,
): Promise<Original> {
  const bare = nameWithoutPrefix(topic, log.topicPrefix) ?? topic
  const name = (Object.keys(topics) as TopicName[]).find((one) => one === bare)
  const there = name === undefined ? undefined : await recordAt(log, name, partition, offset)
  if (there !== undefined && there.key === key)
    return { topic: name, key, value: there.value ?? new Uint8Array(), id: there.id, isWhole: true }
  return {
    topic: name,
    key,
    value,
    id: undefined,
    isWhole: value.length < limits.deadLetterBytesMax,
  }
}

async function recordAt(
  log: OpenLog,
  name: TopicName,
  partition: number,
  offset: Offset,
): Promise<StoredRecord | undefined> {
  const ends = (await endsOf(log, name)).find((one) => one.partition === partition)
  if (ends === undefined || offset < ends.begin || offset >= ends.end) return undefined
  const [record] = await log.bus.read({
    topic: log.topicPrefix + name,
    partition,
    from: offset,
    to: offset + 1,
    limit: 1,
  })
  return record
}

/** The content, or the reason why it cannot be decoded. */
export function contentOf({
  value,
}: Pick<Original, 'value'>): { message: Message } | { fault: string } {
  try {
    return { message: decode(value) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

const outsiders: ReadonlySet<Writer> = new Set(['edge', 'approver', 'operator'])

/**
 * The topic to which a record is written again: where an outsider may write its type. A client's
 * message in the conversation's inbox is a copy, so it goes to the clients' topic. Undefined: only a
 * stage writes such a record.
 */
export function retryTopicOf(original: Original): TopicName | undefined {
  const { topic } = original
  const content = contentOf(original)
  if (topic === undefined || 'fault' in content) return undefined
  const type: MessageType = content.message.type
  const isFromOutside = (name: TopicName) =>
    topics[name].records[type]?.some((writer) => outsiders.has(writer)) === true
  if (isFromOutside(topic)) return topic
  if (topics[topic].records[type] === undefined) return undefined
  return (Object.keys(topics) as TopicName[]).find(isFromOutside)
}

/**
 * The reason not to write the record again; undefined: there is none. A stage's own record is
 * useless: its turn has ended, and readers drop it by its id (R3). A record from outside counts as
 * new.
 */
export function faultOf(original: Original): string | undefined {
  const { topic, key, isWhole } = original
  if (topic === undefined) return 'its topic is not in this log'
  if (!isWhole) return `only its first ${limits.deadLetterBytesMax} bytes are left`
  const content = contentOf(original)
  if ('fault' in content) return `it still cannot be decoded: ${content.fault}`
  const { type } = content.message
  if (retryTopicOf(original) === undefined)
    return `only a stage writes a ${type}: its turn has failed and ended, and a new message begins a new turn`
  if (keyOf(content.message) !== key)
    return `it has the key of another conversation, ${JSON.stringify(key.slice(0, 80))}`
  return undefined
}
