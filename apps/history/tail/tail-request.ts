// The parsed arguments of `weir tail`: a topic, partitions, a range of time or offsets, and the
// kinds of records. All are checked before the log is opened, but for the partition's number, which
// only the log can confirm.

import type { Offset } from '../../../shared/contract/bus.ts'
import { isGuardName } from '../../../shared/contract/guard/guard-registration.ts'
import { historyPrefix } from '../../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import {
  type GuardTopicName,
  guardTopic,
  guardTopicName,
  nameWithoutPrefix,
  type TopicName,
  topics,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { alternatives } from '../../../shared/settings/mistake.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOf } from '../../../shared/view/filter/instant.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable } from '../../terminal/text/printable.ts'

export type TailOptions = {
  conversation?: ConversationId
  type?: string[]
  partition?: string
  from?: string
  since?: string
  until?: string
  limit?: string
  follow?: boolean
  unredacted?: boolean
  /** Reads this file instead of the log that the settings name. */
  bundle?: string
}

export type Start =
  | { kind: 'beginning' }
  | { kind: 'end' }
  | { kind: 'offset'; offset: Offset }
  | { kind: 'time'; time: Milliseconds }

export type TailRequest = {
  topic: TopicName | GuardTopicName
  start: Start
  until: Milliseconds
  conversation: ConversationId | undefined
  partition: number | undefined
  /** Empty: all. */
  types: ReadonlySet<MessageType>
  limit: number
  follow: boolean
}

/** `topic`: with or without the topic prefix. Throws `usage` with the accepted values. */
export function tailRequestOf(
  topic: string,
  topicPrefix: string,
  options: TailOptions,
  now: Milliseconds,
): TailRequest {
  const { conversation, type = [], partition, limit, until, follow = false } = options
  const name = topicNameOf(topic, topicPrefix)
  const request = {
    topic: name,
    start: startOf(options, now),
    until: until === undefined ? Number.POSITIVE_INFINITY : instantOfFlag('--until', until, now),
    conversation,
    partition: partition === undefined ? undefined : wholeNumber('--partition', partition, 0),
    types: new Set(type.map((one) => typeNamed(one, name))),
    limit: limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--limit', limit, 1),
    follow,
  }
  if (request.start.kind === 'end' && !follow)
    throw usageError('--from end without --follow shows nothing: give --follow too')
  if (request.start.kind === 'offset' && conversation === undefined && partition === undefined)
    throw usageError(
      `--from ${request.start.offset} is an offset, and each partition has its own: name one with --partition`,
    )
  return request
}

/** Accepts the topic of any guard: only the log knows the registered ones. */
function topicNameOf(given: string, topicPrefix: string): TopicName | GuardTopicName {
  const names = Object.keys(topics) as TopicName[]
  const bare = nameWithoutPrefix(given, topicPrefix) ?? given
  const name = names.find((one) => one === bare || one === given)
  if (name !== undefined) return name
  const guard = bare.startsWith(guardTopicName('')) ? bare.slice(guardTopicName('').length) : ''
  if (isGuardName(guard)) return guardTopicName(guard)
  const near = nearestName(bare, names)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw usageError(
    `there is no topic ${printable(given)}.${meant} The topics are ${names.join(', ')}, and ${guardTopicName('NAME')} of each guard`,
  )
}

function typeNamed(given: string, topic: TopicName | GuardTopicName): MessageType {
  const { records } = topic in topics ? topics[topic as TopicName] : guardTopic
  const types = Object.keys(records) as MessageType[]
  const type = types.find((one) => one === given)
  if (type !== undefined) return type
  const elsewhere = (Object.keys(topics) as TopicName[]).filter(
    (other) => given in topics[other].records,
  )
  const near = nearestName(given, types)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  const hint =
    elsewhere.length > 0
      ? ` ${alternatives(elsewhere, 'and')} ${elsewhere.length === 1 ? 'has' : 'have'} it.`
      : meant
  throw usageError(
    `--type is '${printable(given)}', which ${topic} does not have.${hint} Its types are ${types.join(', ')}`,
  )
}

function startOf({ from, since, follow = false }: TailOptions, now: Milliseconds): Start {
  if (from !== undefined && since !== undefined)
    throw usageError('--from and --since both set the start: give one of them')
  if (since !== undefined) return { kind: 'time', time: instantOfFlag('--since', since, now) }
  if (from === undefined) return follow ? { kind: 'end' } : { kind: 'beginning' }
  if (from === 'beginning' || from === 'end') return { kind: from }
  if (/^\d{1,15}$/.test(from)) return { kind: 'offset', offset: Number(from) }
  const time = instantOf(from, now)
  if (time !== undefined) return { kind: 'time', time }
  throw usageError(
    `--from is '${printable(from)}': give beginning, end, an offset, or a time such as 2026-07-29T10:12:03Z or '10m ago'`,
  )
}

function wholeNumber(flag: string, text: string, minimum: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= minimum) return number
  throw usageError(`${flag} is '${printable(text)}': give a whole number from ${minimum}`)
}

/**
 * The partitions to read, of the `count` that the topic has: the named one, or the conversation's.
 * A dead letter has the partition of its record, which may be the wrong one.
 */
export function partitionsOf(
  { topic, conversation, partition }: TailRequest,
  count: number,
): number[] {
  if (partition !== undefined && partition >= count)
    throw usageError(`--partition is ${partition}; the last partition of ${topic} is ${count - 1}`)
  if (partition !== undefined) return [partition]
  if (conversation !== undefined && topic !== 'dead-letters')
    return [partitionOf(conversation, count)]
  return Array.from({ length: count }, (_, number) => number)
}

/** True: a record with this key belongs to the conversation. */
export function isOfConversation({ topic, conversation }: TailRequest, key: string): boolean {
  if (conversation === undefined) return true
  return topic === 'history' ? key.startsWith(historyPrefix(conversation)) : key === conversation
}
