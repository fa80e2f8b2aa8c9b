// What the tests of the bus contract share: the bus that they are given, and short ways to write
// and read records.

import { randomUUID } from 'node:crypto'

import type { Bus, RecordToAppend, StoredRecord, TopicKind } from '../../../shared/contract/bus.ts'
import { bytesOf, textOf } from './recording-readers.ts'

/** One bus over storage of its own, or over names that no other test uses. */
export type OpenedBus = {
  bus: Bus
  /** Closes the bus and opens it again on what it had stored. Absent where nothing is stored. */
  reopen?: (() => Promise<Bus>) | undefined
  /** Closes what is open and removes what was stored. */
  dispose(): Promise<void>
}

/** What a test of the contract is given. */
export type World = {
  bus: Bus
  reopen(): Promise<Bus>
  /** Makes a topic with a name of its own. */
  topic(kind: TopicKind, partitions?: number): Promise<string>
  /** Appends texts to one partition, one record each. */
  say(topic: string, texts: string[], partition?: number): Promise<void>
}

export type ContractOptions = { keeps: boolean }

/** A record as a test wants it, with a text as its value. */
export function record(
  topic: string,
  text: string,
  { partition = 0, key = 'conversation' } = {},
): RecordToAppend {
  return { topic, partition, key, value: bytesOf(text) }
}

/** A name that no other test uses, also not on a broker that outlives the test. */
export function newName(kind: string): string {
  return `${kind}-${randomUUID()}`
}

export async function readAll(bus: Bus, topic: string, partition = 0): Promise<StoredRecord[]> {
  const end = (await bus.ends(topic))[partition]?.end ?? 0
  return bus.read({ topic, partition, from: 0, limit: end + 1 })
}

/** Reads until the end, and puts what it reads into `into` as texts. */
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
