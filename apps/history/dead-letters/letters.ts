// Dead letters as they stand in the log: which there are, the record that each is about, and
// whether that record can be written again.

import { decode } from '../../../shared/codec/codec.ts'
import type { Offset, StoredRecord } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { DeadLetter, Message, MessageType } from '../../../shared/contract/messages.ts'
import {
  keyOf,
  stageNames,
  type TopicName,
  topics,
  type Writer,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { errorCodes, WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOfFlag } from '../../terminal/instant-text.ts'
import { printable } from '../../terminal/printable.ts'
import { messageOf } from '../message-of.ts'
import { endsOf, type OpenLog } from '../open-log.ts'
import { scan } from '../scan.ts'

/**
 * `place`: `PARTITION/OFFSET` in the topic of dead letters, by which people name it. `at`: when it
 * was written.
 */
export type Letter = { place: string; at: Milliseconds; letter: DeadLetter }

export type LetterFilter = {
  conversation?: ConversationId
  stage?: string
  code?: string
  since?: string
}

/**
 * By partition, then in the order of the log. Bytes there that are no dead letter are left out.
 * Throws `usage`.
 */
export async function* lettersIn(
  log: OpenLog,
  { conversation, stage, code, since }: LetterFilter,
): AsyncGenerator<Letter> {
  if (stage !== undefined && !stageNames.some((name) => name === stage)) throw noStage(stage)
  if (code !== undefined && !errorCodes.some((known) => known === code)) throw noCode(code)
  const from = since === undefined ? 0 : instantOfFlag('--since', since, log.bus.clock.now())
  for (const { partition } of await endsOf(log, 'dead-letters'))
    for await (const records of scan(log, { topic: 'dead-letters', partition, since: from }))
      for (const record of records) {
        const letter = messageOf(record.value)
        if (letter?.type !== 'dead-letter') continue
        if (conversation !== undefined && letter.key !== conversation) continue
        if ((stage ?? letter.stage) !== letter.stage || (code ?? letter.code) !== letter.code)
          continue
        yield letterAt(record, letter)
      }
}

function noStage(given: string): WeirError {
  const near = nearestName(given, stageNames)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return new WeirError(
    'usage',
    `--stage is '${printable(given)}', and no stage is called so.${meant} There are ${stageNames.join(', ')}`,
  )
}

/**
 * A letter may have any code that an error has; but for a mistake of ours it says what was wrong
 * with the bytes.
 */
const usualCodes = errorCodes.filter(
  (code) => code.startsWith('codec.') || code.startsWith('runtime.'),
)

function noCode(given: string): WeirError {
  const near = nearestName(given, errorCodes)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return new WeirError(
    'usage',
    `--code is '${printable(given)}', and no error is called so.${meant} Those of most letters are ${usualCodes.join(', ')}`,
  )
}

/** Throws `usage` where no dead letter stands. */
export async function letterNamed(log: OpenLog, place: string): Promise<Letter> {
  const [, partition = '', offset = ''] = /^(\d{1,5})\/(\d{1,15})$/.exec(place) ?? []
  if (partition === '')
    throw new WeirError(
      'usage',
      `'${printable(place)}' names no dead letter; must be PARTITION/OFFSET, as weir dead-letters list shows it`,
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
    throw new WeirError(
      'usage',
      `there is no dead letter ${place}: weir dead-letters list shows those that are there`,
    )
  return letterAt(record, letter)
}

function letterAt({ partition, offset, time }: StoredRecord, letter: DeadLetter): Letter {
  return { place: `${partition}/${offset}`, at: time, letter }
}

/**
 * `isWhole`: false where only the beginning is left. `id`: known only while the record still stands
 * where it was read.
 */
export type Original = {
  topic: TopicName | undefined
  key: string
  value: Uint8Array
  id: string | undefined
  isWhole: boolean
}

/**
 * The record that a dead letter is about: from where it was read, or what the letter kept of it.
 */
export async function originalOf(
  log: OpenLog,
  { topic, partition, offset, key, value }: DeadLetter,
): Promise<Original> {
  const bare = topic.startsWith(log.topicPrefix) ? topic.slice(log.topicPrefix.length) : topic
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

/** Its content, or why it cannot be read. */
export function contentOf({
  value,
}: Pick<Original, 'value'>): { message: Message } | { fault: string } {
  try {
    return { message: decode(value) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Why it is of no use to write the record again; undefined: it is of use. What a stage wrote is
 * none: the turn has failed and been answered, and whoever reads the record again drops it by its
 * id (R3). What came from outside is taken as if it came only now.
 */
export function faultOf(original: Original): string | undefined {
  const { topic, key, isWhole } = original
  if (topic === undefined) return 'it was read from no topic of this log'
  if (!isWhole) return `only its first ${limits.deadLetterBytesMax} bytes are left`
  const content = contentOf(original)
  if ('fault' in content) return `it still cannot be read: ${content.fault}`
  const { type } = content.message
  const writers: Writer[] = topics[topic].records[type as MessageType] ?? []
  if (!writers.includes('edge') && !writers.includes('operator'))
    return `a ${type} is not written from outside: its turn has failed and was answered, and a new message begins a new one`
  if (keyOf(content.message) !== key)
    return `it stands under the key of another conversation, ${JSON.stringify(key.slice(0, 80))}`
  return undefined
}
