// Helpers of the bus contract's tests: the bus under test, and short ways to write and read
// records.

import { randomUUID } from 'node:crypto'

import type { Bus, RecordToAppend, StoredRecord, TopicKind } from '../../../shared/contract/bus.ts'
import { bytesOf, textOf } from './recording-readers.ts'

/** One bus over separate storage, or over names that no other test uses. */
export type OpenedBus = {
  bus: Bus
  /** Closes the bus and opens it again on its storage. Absent without storage. */
  reopen?: (() => Promise<Bus>) | undefined
  /** Closes all buses and removes the storage. */
  dispose(): Promise<void>
}

/** The arguments of a contract test. */
export type World = {
  bus: Bus
  reopen(): Promise<Bus>
  /** Creates a topic with a unique name. */
  topic(kind: TopicKind, partitions?: number): Promise<string>
  /** Appends texts to one partition, one record each. */
  appendTexts(topic: string, texts: string[], partition?: number): Promise<void>
}

export type ContractOptions = { keeps: boolean }

/** A short form of a record, with a text as its value. */
export function record(
  topic: string,
  text: string,
  { partition = 0, key = 'conversation' } = {},
): RecordToAppend {
  return { topic, partition, key, value: bytesOf(text) }
}

/** A name that no other test uses, also on a broker that outlives the test. */
export function newName(kind: string): string {
  return `${kind}-${randomUUID()}`
}

export async function readAll(bus: Bus, topic: string, partition = 0): Promise<StoredRecord[]> {
  const end = (await bus.ends(topic))[partition]?.end ?? 0
  return bus.read({ topic, partition, from: 0, limit: end + 1 })
}

/** Reads until the end, and adds each value to `into` as text. */
export async function collect(
  batches: AsyncIterable<StoredRecord[]>,
  into: string[],
): Promise<void> {
  for await (const batch of batches) into.push(...batch.map(textOf))
}

export async function firstOf(
  batches: AsyncIterable<StoredRecord[]>,
): Promise<StoredRecord[] | undefined> {
  for await (const batch of batches) return batch
  return undefined
}
