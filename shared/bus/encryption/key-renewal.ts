// Renews the table of the keys of conversations: encrypts each key with the newest key of its tenant, and
// deletes the keys of conversations that the log no longer has.
// A key that stands after its own deletion is deleted again, because no name is used twice.
// So a renewal next to `weir forget` brings no key back.
// A deleted key encrypts no record of the log, and no writer uses it any more: all keys of
// its conversation are older than `freshMs`. A key that another renewal has written meanwhile stays.

import { encryptedByte } from '../../codec/codec.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { historyConversation } from '../../contract/history/history-keys.ts'
import type { ConversationId } from '../../contract/ids.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { batchesOf, noneIfMissing } from '../range.ts'
import { freshMs } from './conversation-keys.ts'
import { conversationRecords } from './conversation-records.ts'
import { deletedName, type Encryption } from './encryption.ts'

/** Clocks of writers and brokers differ, and a writer looks a key up before it writes. */
const marginMs: Milliseconds = 24 * 3_600_000
const appendedAtOnce = 500
/** Two renewals with other files could go on for ever. */
const passesMax = 5

/** `unreadable`: keys that stay as they are, because no key of the file decrypts them. */
export type Renewed = { renewed: number; removed: number; unreadable: number }

export type Renewal = {
  bus: Pick<Bus, 'append' | 'clock' | 'ends' | 'read'>
  topicPrefix: string
  /** As of RecordsAsked. */
  topics: readonly string[]
  encryption: Encryption
}

/** `value` null: the key is deleted. `isRevived`: it stands after its deletion. */
type Row = Pick<StoredRecord, 'key' | 'value' | 'time'> & { isRevived: boolean }

/** Memory: the table of one partition. */
export async function renewKeys(renewal: Renewal): Promise<Renewed> {
  const { bus, topicPrefix } = renewal
  const topic = `${topicPrefix}conversation-keys`
  const all: Renewed = { renewed: 0, removed: 0, unreadable: 0 }
  for (const { partition } of await bus.ends(topic).catch(noneIfMissing)) {
    const place = { topic, partition }
    const gone = await goneIn(renewal, place)
    await append(
      bus,
      gone.map(({ key }) => ({ ...place, key, value: null })),
    )
    all.removed += gone.length
    for (let pass = 1, isDone = false; !isDone && pass <= passesMax; pass += 1) {
      const { changes, unreadable } = changesIn(renewal, place, await rowsOf(bus, place))
      await append(bus, changes)
      all.renewed += changes.filter(({ value }) => value !== null).length
      if (pass === 1) all.unreadable += unreadable
      isDone = changes.length === 0
    }
  }
  return all
}

type Place = { topic: string; partition: number }
type Change = Place & { key: string; value: Uint8Array | null }

async function append(bus: Pick<Bus, 'append'>, changes: readonly Change[]): Promise<void> {
  for (let at = 0; at < changes.length; at += appendedAtOnce)
    await bus.append(changes.slice(at, at + appendedAtOnce))
}

function changesIn(
  { encryption }: Renewal,
  place: Place,
  rows: readonly Row[],
): { changes: Change[]; unreadable: number } {
  const changes: Change[] = []
  let unreadable = 0
  for (const { key, value, isRevived } of rows) {
    const record = { ...place, key, value }
    const name = encryption.currentName(historyConversation(key) ?? '')
    if (isRevived) changes.push({ ...record, value: null })
    else if (encryption.keyNameIn(record) !== name && name !== deletedName) {
      const plain = encryption.decrypted(record, 'leave')
      if (name === undefined || plain.value?.[0] === encryptedByte) unreadable += 1
      else changes.push(encryption.encrypted(plain))
    }
  }
  return { changes, unreadable }
}

/** Those that are not deleted. */
async function rowsOf(bus: Renewal['bus'], { topic, partition }: Place): Promise<Row[]> {
  const rows = new Map<string, Row>()
  const ends = (await bus.ends(topic)).find((one) => one.partition === partition)
  const range = { topic, partition, from: ends?.begin ?? 0, to: ends?.end ?? 0 }
  for await (const records of batchesOf(bus, range))
    for (const { key, value, time } of records) {
      const before = rows.get(key)
      const wasDeleted = before !== undefined && (before.isRevived || before.value === null)
      rows.set(key, { key, value, time, isRevived: value !== null && wasDeleted })
    }
  return [...rows.values()].filter(({ value }) => value !== null)
}

async function goneIn(renewal: Renewal, place: Place): Promise<Row[]> {
  const { bus } = renewal
  const rows = await rowsOf(bus, place)
  const conversationOf = ({ key }: Row) => historyConversation(key) ?? ''
  const before = bus.clock.now() - freshMs - marginMs
  const gone = new Set<ConversationId>(rows.map(conversationOf))
  for (const row of rows) if (row.time >= before) gone.delete(conversationOf(row))
  if (gone.size === 0) return []
  for await (const { conversation } of conversationRecords({ ...renewal, ...place })) {
    gone.delete(conversation)
    if (gone.size === 0) break
  }
  const times = new Map((await rowsOf(bus, place)).map(({ key, time }) => [key, time]))
  return rows.filter((row) => gone.has(conversationOf(row)) && times.get(row.key) === row.time)
}
