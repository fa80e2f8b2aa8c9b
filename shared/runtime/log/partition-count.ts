// The log's partition count, kept in the table `policies`. A conversation's partition is a function
// of this count. With another count its history and its marks are in a partition that nobody reads
// for it. So a log keeps the count of its first start forever.
// The count is stored once. Weir refuses topics with another count, and never
// writes the record again.
// A log without the record gets it only if most of its conversations are in the
// partition that the count gives.
// If `policies` is empty, and `audit` has a setting that nobody removed, Weir refuses:
// the stops, guards and budgets are gone.

import type { FleetMember } from '../../bus/fleet/fleet-members.ts'
import { batchesOf, noneIfMissing } from '../../bus/range.ts'
import { decode } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus } from '../../contract/bus.ts'
import { partitionOf } from '../../contract/partition.ts'
import {
  budgetKeyPrefix,
  guardKeyPrefix,
  partitionCountKey,
  policyKeyPrefix,
  pricesKey,
  stopKeyPrefix,
} from '../../contract/topology.ts'
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
 * `bus.topic-differs` if its conversations are in other partitions,
 * `bus.topic-recreated`, and `bus.unauthorized` if this user may not read `audit` or
 * write `policies`.
 */
export async function storePartitionCount(
  bus: Pick<Bus, 'list' | 'ends' | 'read' | 'append' | 'clock'>,
  topicPrefix: string,
  partitions: number,
  members: () => Promise<readonly FleetMember[]> = async () => [],
): Promise<boolean> {
  if ((await storedPartitionCount(bus, topicPrefix)) !== undefined) return false
  const topic = `${topicPrefix}conversation-events`
  const { seen, elsewhere } = await samplePlaces(bus, topic, partitions)
  const policies = `${topicPrefix}policies`
  if (!(await hasValue(bus, policies))) {
    const [setting] = await settingsInAudit(bus, `${topicPrefix}audit`)
    if (setting !== undefined) throw policiesGone(policies, setting)
  }
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

/** The settings in `policies` that somebody set and nobody removed. Empty without evidence. */
async function settingsInAudit(
  bus: Pick<Bus, 'ends' | 'read'>,
  topic: string,
): Promise<Set<string>> {
  const settings = new Set<string>()
  const [ends] = await bus.ends(topic, [0]).catch(noneIfMissing)
  if (ends === undefined) return settings
  for await (const records of batchesOf(bus, {
    topic,
    partition: 0,
    from: ends.begin,
    to: ends.end,
  }))
    for (const { value } of records) {
      const message = messageOf(value)
      if (message?.type !== 'audit-changed') continue
      const { setting, isRemoved } = message
      if (isRemoved) settings.delete(setting)
      else if (settingKeys.some((key) => setting.startsWith(key))) settings.add(setting)
    }
  return settings
}

const settingKeys = [stopKeyPrefix, guardKeyPrefix, budgetKeyPrefix, policyKeyPrefix, pricesKey]

function policiesGone(policies: string, setting: string): WeirError {
  return new WeirError(
    'bus.topic-recreated',
    `${policies} is empty, and weir audit shows the setting ${setting}, which nobody removed: the table was deleted and created again, so all stops, guards, budgets and approval rules are gone. Set them again and run weir topics create, delete everything (weir reset --all), or begin anew under another prefix (--topic-prefix)`,
  )
}

/** From the begin of each partition, where the records from before a growth are. */
const sampledPerPartition = 20

async function samplePlaces(
  bus: Pick<Bus, 'ends' | 'read'>,
  topic: string,
  partitions: number,
): Promise<{ seen: number; elsewhere: number }> {
  const places = { seen: 0, elsewhere: 0 }
  for (const { partition, begin, end } of await bus.ends(topic)) {
    if (begin >= end) continue
    const limit = sampledPerPartition
    for (const { key } of await bus.read({ topic, partition, from: begin, to: end, limit })) {
      places.seen += 1
      if (partitionOf(key, partitions) !== partition) places.elsewhere += 1
    }
  }
  return places
}
