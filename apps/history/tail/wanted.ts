// What `weir tail` was asked for: a topic, partitions of it, a stretch of time or offsets, and
// which records. Judged before anything is opened, except for what only the log knows: how many
// partitions there are.

import type { Offset } from '../../../shared/contract/bus.ts'
import { isGuardName } from '../../../shared/contract/guard-registration.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import {
  type GuardTopicName,
  guardTopic,
  guardTopicName,
  historyPrefix,
  type TopicName,
  topics,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { instantOf, instantOfFlag } from '../../terminal/instant-text.ts'
import { printable } from '../../terminal/printable.ts'

export type TailOptions = {
  conversation?: ConversationId
  type?: string[]
  partition?: string
  from?: string
  since?: string
  until?: string
  limit?: string
  follow?: boolean
  /** Looks into this file instead of the log that the settings name. */
  bundle?: string
}

export type Start =
  | { kind: 'beginning' }
  | { kind: 'end' }
  | { kind: 'offset'; offset: Offset }
  | { kind: 'time'; time: Milliseconds }

export type Wanted = {
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

/** `topic`: with or without the prefix of topics. Throws `usage` with what would be taken. */
export function wantedOf(
  topic: string,
  topicPrefix: string,
  options: TailOptions,
  now: Milliseconds,
): Wanted {
  const { conversation, type = [], partition, limit, until, follow = false } = options
  const name = topicNameOf(topic, topicPrefix)
  const wanted = {
    topic: name,
    start: startOf(options, now),
    until: until === undefined ? Number.POSITIVE_INFINITY : instantOfFlag('--until', until, now),
    conversation,
    partition: partition === undefined ? undefined : wholeNumber('--partition', partition, 0),
    types: new Set(type.map((one) => typeNamed(one, name))),
    limit: limit === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--limit', limit, 1),
    follow,
  }
  if (wanted.start.kind === 'end' && !follow)
    throw new WeirError('usage', '--from end without --follow shows nothing: give --follow too')
  if (wanted.start.kind === 'offset' && conversation === undefined && partition === undefined)
    throw new WeirError(
      'usage',
      `--from ${wanted.start.offset} is an offset, and each partition has its own: name one with --partition`,
    )
  return wanted
}

/** Of which guard it is, only the log knows. */
function topicNameOf(given: string, topicPrefix: string): TopicName | GuardTopicName {
  const names = Object.keys(topics) as TopicName[]
  const bare = given.startsWith(topicPrefix) ? given.slice(topicPrefix.length) : given
  const name = names.find((one) => one === bare || one === given)
  if (name !== undefined) return name
  const guard = bare.startsWith(guardTopicName('')) ? bare.slice(guardTopicName('').length) : ''
  if (isGuardName(guard)) return guardTopicName(guard)
  const near = nearestName(bare, names)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  throw new WeirError(
    'usage',
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
  const hint =
    elsewhere.length > 0
      ? ` It stands in ${elsewhere.join(', ')}.`
      : near === undefined
        ? ''
        : ` Did you mean ${near}?`
  throw new WeirError(
    'usage',
    `--type is '${printable(given)}', which does not stand in ${topic}.${hint} Its types are ${types.join(', ')}`,
  )
}

function startOf({ from, since, follow = false }: TailOptions, now: Milliseconds): Start {
  if (from !== undefined && since !== undefined)
    throw new WeirError('usage', '--from and --since both say where to begin: give one of them')
  if (since !== undefined) return { kind: 'time', time: instantOfFlag('--since', since, now) }
  if (from === undefined) return follow ? { kind: 'end' } : { kind: 'beginning' }
  if (from === 'beginning' || from === 'end') return { kind: from }
  if (/^\d{1,15}$/.test(from)) return { kind: 'offset', offset: Number(from) }
  const time = instantOf(from, now)
  if (time !== undefined) return { kind: 'time', time }
  throw new WeirError(
    'usage',
    `--from is '${printable(from)}'; must be beginning, end, an offset, or a time such as 2026-07-29T10:12:03Z or '10m ago'`,
  )
}

function wholeNumber(flag: string, text: string, minimum: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= minimum) return number
  throw new WeirError(
    'usage',
    `${flag} is '${printable(text)}'; must be a whole number from ${minimum}`,
  )
}

/**
 * The partitions to look at, of the `count` that the topic has: the one that is named, or that of
 * the conversation. A dead letter stands where its record stood, which may have been the wrong
 * partition.
 */
export function partitionsOf({ topic, conversation, partition }: Wanted, count: number): number[] {
  if (partition !== undefined && partition >= count)
    throw new WeirError(
      'usage',
      `--partition is ${partition}; ${topic} has ${count} partitions, from 0 to ${count - 1}`,
    )
  if (partition !== undefined) return [partition]
  if (conversation !== undefined && topic !== 'dead-letters')
    return [partitionOf(conversation, count)]
  return Array.from({ length: count }, (_, number) => number)
}

/** Whether a record with this key is the conversation's. */
export function isOfConversation({ topic, conversation }: Wanted, key: string): boolean {
  if (conversation === undefined) return true
  return topic === 'history' ? key.startsWith(historyPrefix(conversation)) : key === conversation
}
