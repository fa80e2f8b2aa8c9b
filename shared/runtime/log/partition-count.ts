// The log's partition count, kept in the table `policies`. A conversation's partition is a function
// of this count. With another count its history and its marks are in a partition that nobody reads
// for it. So a log keeps the count of its first start forever.
// PARTITION-COUNT-1. The count is stored once. Weir refuses topics with another count, and never
//     writes the record again.
// PARTITION-COUNT-2. A log without the record gets it only if most of its conversations are in the
//     partition that the count gives.
// PARTITION-COUNT-3. A log with records of a Weir that stores the count has a table `policies` with
//     records. With an empty table, Weir refuses: its stops, guards and budgets are gone.

import type { FleetMember } from '../../bus/fleet/fleet-members.ts'
import { decode, headerBytes, knownSchemas, schemaIdIn } from '../../codec/codec.ts'
import type { Bus } from '../../contract/bus.ts'
import { partitionOf } from '../../contract/partition.ts'
import { partitionCountKey } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { assertNoneBefore } from '../fleet/fleet-rules.ts'
import { firstFormat } from '../fleet/stored-formats.ts'
import { toRecord } from '../record.ts'

/** The advice for every refusal: Kafka cannot undo a growth. */
export const otherCountRemedy =
  'Kafka cannot remove partitions: restore the topics, begin anew under another prefix (weir topics grow prints the steps), or delete everything (weir reset --all)'

/**
 * The stored count. Undefined: the log has none yet, or this user may not read `policies`. The
 * stages, which can read it, check the count in any case. Throws `bus.topic-differs` if the record
 * is not a count.
 */
export async function storedPartitionCount(
  bus: Pick<Bus, 'list'>,
  topicPrefix: string,
): Promise<number | undefined> {
  const topic = `${topicPrefix}policies`
  try {
    const found = await bus.list({ topic, partition: 0, prefix: partitionCountKey, upToNow: true })
    const record = found.find(({ key }) => key === partitionCountKey)
    if (record === undefined || record.value === null) return undefined
    const message = decode(record.value)
    if (message.type === 'partition-count' && message.partitions > 0) return message.partitions
    throw new WeirError(
      'bus.topic-differs',
      `the record ${partitionCountKey} in ${topic} is not a partition count: restore it from a backup, or delete everything (weir reset --all)`,
    )
  } catch (error) {
    if (error instanceof WeirError && unreadable.includes(error.code)) return undefined
    throw error
  }
}

const unreadable = ['bus.topic-missing', 'bus.unauthorized']

/** Throws `bus.topic-differs` if a topic has another count than the log began with. */
export function assertPartitionCount(topic: string, is: number, stored: number | undefined): void {
  if (stored !== undefined && is !== stored) throw otherPartitionCount(topic, is, stored)
}

export function otherPartitionCount(topic: string, is: number, stored: number): WeirError {
  return new WeirError(
    'bus.topic-differs',
    `${topic} has ${is} partitions, and this log began with ${stored}: with another number, conversations lose their history and messages run twice. ${otherCountRemedy}`,
  )
}

/**
 * Stores the count of a log that has none. A log without records gets the newest format too. Resolves to
 * false if it has a count already. `members`: the live members of the fleet, by default none. A log with
 * records and without a count is of a Weir before format 1: throws `fleet.apart` if there are any. Throws
 * `bus.topic-differs` if its conversations are in other partitions (PARTITION-COUNT-2),
 * `bus.topic-recreated` (PARTITION-COUNT-3), and `bus.unauthorized` if this user may not write `policies`.
 */
export async function storePartitionCount(
  bus: Pick<Bus, 'list' | 'ends' | 'read' | 'append' | 'clock'>,
  topicPrefix: string,
  partitions: number,
  members: () => Promise<readonly FleetMember[]> = async () => [],
): Promise<boolean> {
  if ((await storedPartitionCount(bus, topicPrefix)) !== undefined) return false
  const topic = `${topicPrefix}conversation-events`
  const { seen, elsewhere, isNew } = await samplePlaces(bus, topic, partitions)
  const policies = `${topicPrefix}policies`
  if (isNew && !(await hasValue(bus, policies))) throw policiesGone(policies, topic)
  if (elsewhere * 2 > seen)
    throw new WeirError(
      'bus.topic-differs',
      `${topic} has ${partitions} partitions, and ${elsewhere} of ${seen} sampled records are in another partition than this number gives: the topic has grown since they were written. ${otherCountRemedy}`,
    )
  if (seen > 0) assertNoneBefore(await members())
  const message = { type: 'partition-count', partitions } as const
  const count = toRecord({ topic: policies, partition: 0, message })
  await bus.append([count, ...(seen > 0 ? [] : firstFormat({ bus, topicPrefix }))])
  return true
}

/** In the log as it is: a process that has no key for a record's signature must not miss the record. */
async function hasValue(bus: Pick<Bus, 'ends' | 'read'>, topic: string): Promise<boolean> {
  const [ends] = await bus.ends(topic, [0])
  const from = ends?.begin ?? 0
  const first = await bus.read({ topic, partition: 0, from, limit: sampledPerPartition })
  return first.some(({ value }) => value !== null)
}

function policiesGone(policies: string, topic: string): WeirError {
  return new WeirError(
    'bus.topic-recreated',
    `${policies} is empty, and ${topic} has records of a Weir that stores the partition count in ${policies}: the table was deleted and created again, so all stops, guards, budgets and approval rules are gone. Set them again and run weir topics create, delete everything (weir reset --all), or begin anew under another prefix (--topic-prefix)`,
  )
}

/** Each build that has the schema stores the count before its first record. */
const countSchema = knownSchemas.find(({ type }) => type === 'partition-count')?.id ?? 0

/** From the begin of each partition, where the records from before a growth are. */
const sampledPerPartition = 20

function isAfterCount(value: Uint8Array): boolean {
  return (schemaIdIn(Uint8Array.of(0, ...value.subarray(1, headerBytes))) ?? 0) > countSchema
}

async function samplePlaces(
  bus: Pick<Bus, 'ends' | 'read'>,
  topic: string,
  partitions: number,
): Promise<{ seen: number; elsewhere: number; isNew: boolean }> {
  const places = { seen: 0, elsewhere: 0, isNew: false }
  for (const { partition, begin, end } of await bus.ends(topic)) {
    if (begin >= end) continue
    const limit = sampledPerPartition
    for (const { key } of await bus.read({ topic, partition, from: begin, to: end, limit })) {
      places.seen += 1
      if (partitionOf(key, partitions) !== partition) places.elsewhere += 1
    }
    const last = { topic, partition, from: Math.max(begin, end - limit), limit }
    const newest = await bus.read(last)
    places.isNew ||= newest.some(({ value }) => value !== null && isAfterCount(value))
  }
  return places
}
