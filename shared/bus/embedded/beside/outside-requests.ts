// The requests that another process may send to the writer: the few writes that an operator, a client, a
// front or a guard does by itself on Kafka. Another request is a member of `OutsideRequest`, its
// parser, and its case in `answerOf`.
// An outsider may write no more than on Kafka: the records of an edge, a front,
// an operator or a guard. Ids of reducers are refused: they would hide records of a stage (R3).
// The owner writes, with its own times and order: so there is one writer.

import { decode, typeIn } from '../../../codec/codec.ts'
import type { Appended, Bus, Erased, Erasure, RecordToAppend } from '../../../contract/bus.ts'
import { isGuardName } from '../../../contract/guard/guard-registration.ts'
import type { MessageType } from '../../../contract/messages.ts'
import { guardTopicSpec } from '../../../contract/retention.ts'
import {
  guardTopic,
  guardTopicName,
  keyOf,
  nameWithoutPrefix,
  topics,
  type Writer,
} from '../../../contract/topology.ts'
import { WeirError } from '../../../lib/errors.ts'
import { refuseWithoutSpace } from '../../space.ts'

export type OutsideRequest =
  /** The answer is `Appended[]`. */
  | { type: 'append'; topicPrefix: string; records: OutsideRecord[] }
  /**
   * Creates the topic of a guard, with as many partitions as the topics have. The answer is null.
   */
  | {
      type: 'guard-topic'
      topicPrefix: string
      guard: string
      partitions: number
      /** 0: until somebody deletes the records. */
      retentionMs: number
    }
  /** Deletes the records of conversations. The answer is `Erased`; null: they have newer ones. */
  | ({ type: 'erase' } & OutsideErasure)

/** The values are base64. */
export type OutsideErasure = Omit<Erasure, 'evidence'> & {
  evidence: { partition: number; offset: number; value: string }[]
}

/** `value`: base64; null: a tombstone. */
export type OutsideRecord = {
  topic: string
  partition: number
  key: string
  value: string | null
  id?: string | undefined
}

type Change = (records: RecordToAppend[]) => Promise<RecordToAppend[]>

/**
 * The values of the log: those of another process are encrypted or readable, and must be readable
 * here to be checked. Errors: shared/bus/encryption/encryption.ts.
 */
export type OutsideValues = { encryptedForOthers: Change; decrypted: Change }

const plainValues: OutsideValues = {
  encryptedForOthers: async (records) => records,
  decrypted: async (records) => records,
}

/**
 * Answers a request from outside. Throws `message.invalid` for a request that is not allowed, and
 * the errors of the bus.
 */
export async function answerOf(
  bus: Pick<Bus, 'append' | 'ensureTopics' | 'space' | 'erase'>,
  received: unknown,
  values = plainValues,
): Promise<Appended[] | Erased | null> {
  const request = requestIn(received)
  switch (request.type) {
    case 'append': {
      const records = request.records.map((record) => placed(record, request.topicPrefix))
      for (const record of await values.decrypted(records)) checkContent(record, request)
      if (records.some(({ value }) => value !== null && typeIn(value) === 'user-message'))
        refuseWithoutSpace(bus)
      return bus.append(await values.encryptedForOthers(records))
    }
    case 'guard-topic': {
      const { topicPrefix, guard, partitions, retentionMs } = request
      if (!isGuardName(guard))
        throw unusable(`no guard can have the name ${JSON.stringify(guard.slice(0, 80))}`)
      await bus.ensureTopics([
        guardTopicSpec(topicPrefix, guard, partitions, retentionMs || undefined),
      ])
      return null
    }
    case 'erase': {
      if (bus.erase === undefined) throw unusable('this log deletes no records')
      const evidence = request.evidence.map((record) => ({
        ...record,
        value: Buffer.from(record.value, 'base64'),
      }))
      return (await bus.erase({ ...request, evidence })) ?? null
    }
    default:
      return request satisfies never
  }
}

/** Whether it is for `answerOf`, by its type alone. */
export function isOutsideRequest(received: unknown): boolean {
  const types: readonly unknown[] = [
    'append',
    'guard-topic',
    'erase',
  ] satisfies OutsideRequest['type'][]
  return types.includes((received as { type?: unknown } | null)?.type)
}

export function outsideErasure({ evidence, ...erasure }: Erasure): OutsideErasure {
  const values = evidence.map(({ value, ...place }) => ({
    ...place,
    value: Buffer.from(value).toString('base64'),
  }))
  return { ...erasure, evidence: values }
}

export function outsideRecord({ value, ...record }: RecordToAppend): OutsideRecord {
  return { ...record, value: value === null ? null : Buffer.from(value).toString('base64') }
}

function requestIn(received: unknown): OutsideRequest {
  const fields = objectIn(received)
  const topicPrefix = textIn(fields, 'topicPrefix')
  switch (fields.type) {
    case 'append':
      return {
        type: 'append',
        topicPrefix,
        records: listIn(fields, 'records').map(outsideRecordIn),
      }
    case 'guard-topic':
      return {
        type: 'guard-topic',
        topicPrefix,
        guard: textIn(fields, 'guard'),
        partitions: numberIn(fields, 'partitions'),
        retentionMs: numberIn(fields, 'retentionMs'),
      }
    case 'erase':
      return {
        type: 'erase',
        topicPrefix,
        conversations: listIn(fields, 'conversations').map(conversationIn),
        forks: listIn(fields, 'forks').map(conversationIn),
        keep: listIn(fields, 'keep').map((place) => ({
          ...placeIn(place),
          offset: numberIn(objectIn(place), 'offset'),
        })),
        seen: listIn(fields, 'seen').map((place) => ({
          ...placeIn(place),
          end: numberIn(objectIn(place), 'end'),
        })),
        evidence: listIn(fields, 'evidence').map((record) => ({
          partition: numberIn(objectIn(record), 'partition'),
          offset: numberIn(objectIn(record), 'offset'),
          value: textIn(objectIn(record), 'value'),
        })),
      }
    default:
      throw unusable(
        `its type is ${JSON.stringify(fields.type)?.slice(0, 80)}; this Weir knows append, guard-topic and erase`,
      )
  }
}

function outsideRecordIn(given: unknown): OutsideRecord {
  const fields = objectIn(given)
  const value = fields.value === null ? null : textIn(fields, 'value')
  const id = fields.id === undefined ? undefined : textIn(fields, 'id')
  return {
    topic: textIn(fields, 'topic'),
    partition: numberIn(fields, 'partition'),
    key: textIn(fields, 'key'),
    value,
    id,
  }
}

const outsiders: ReadonlySet<Writer> = new Set([
  ...(['edge', 'front', 'approver', 'operator', 'guard'] as const),
])

/** The place is checked here, the content is not. */
function placed(
  { topic, partition, key, value, id }: OutsideRecord,
  topicPrefix: string,
): RecordToAppend {
  const { guard, tombstones } = wiringOf(topic, topicPrefix)
  if (id !== undefined && !(guard !== undefined && id.startsWith(`guard.${guard}/`)))
    throw unusable(`the id ${id} belongs to a stage`)
  if (value !== null) return { topic, partition, key, value: Buffer.from(value, 'base64'), id }
  if (!tombstones?.includes('operator'))
    throw unusable(`an operator may not delete keys of ${topic.slice(topicPrefix.length)}`)
  return { topic, partition, key, value }
}

function wiringOf(topic: string, topicPrefix: string) {
  const name = nameWithoutPrefix(topic, topicPrefix) ?? ''
  const guard = name.startsWith(guardTopicName(''))
    ? name.slice(guardTopicName('').length)
    : undefined
  const found =
    Object.entries(topics).find(([known]) => known === name)?.[1] ??
    (guard === undefined ? undefined : guardTopic)
  if (found === undefined)
    throw unusable(`${JSON.stringify(topic.slice(0, 80))} is not a topic of Weir`)
  return { ...found, name, guard }
}

function checkContent(
  { topic, key, value }: RecordToAppend,
  { topicPrefix }: { topicPrefix: string },
): void {
  if (value === null) return
  const { name, records } = wiringOf(topic, topicPrefix)
  const message = decode(value)
  const writers = records[message.type as MessageType] ?? []
  if (!writers.some((writer) => outsiders.has(writer)))
    throw unusable(`only a stage may write a ${message.type} to ${name}`)
  if (keyOf(message) !== key)
    throw unusable(`the key of a ${message.type} is not ${JSON.stringify(key.slice(0, 80))}`)
}

function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw unusable('an object is missing')
}

function listIn(fields: Record<string, unknown>, name: string): unknown[] {
  const value = fields[name]
  if (Array.isArray(value)) return value
  throw unusable(`${name} is not a list`)
}

function conversationIn(value: unknown): string {
  if (typeof value === 'string') return value
  throw unusable('a conversation is not a text')
}

function placeIn(given: unknown): { topic: string; partition: number } {
  const fields = objectIn(given)
  return { topic: textIn(fields, 'topic'), partition: numberIn(fields, 'partition') }
}

function textIn(fields: Record<string, unknown>, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw unusable(`${name} is not a text`)
}

function numberIn(fields: Record<string, unknown>, name: string): number {
  const value = fields[name]
  if (Number.isSafeInteger(value)) return value as number
  throw unusable(`${name} is not a whole number`)
}

function unusable(why: string): WeirError {
  return new WeirError('message.invalid', `a request of another process cannot be answered: ${why}`)
}
