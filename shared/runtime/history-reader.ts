// Reads a conversation's history from the table, for one assigned partition. Caches the entries, so
// a round of a long conversation does not read and decode all of them again.
// HISTORY-READER-1. Entries never change, and each round of a turn adds one at the end. So the next
//     round reads one entry. A new turn reads all: an unknown number of rounds lies between.
// HISTORY-READER-2. The cache is bounded in bytes over all conversations of the partition. The
//     least recently read one goes first, and a new owner starts empty.
// HISTORY-READER-3. Several rounds share the entries, so nobody may change them.

import { decode } from '../codec/codec.ts'
import type { Bus, StoredRecord } from '../contract/bus.ts'
import type { ConversationId, RoundId } from '../contract/ids.ts'
import type { HistoryEntry } from '../contract/messages.ts'
import { historyKey, historyPrefix, historyTurn } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** All entries up to the last one, in order of (turn, round), and the bytes of their records. */
type Known = { entries: HistoryEntry[]; bytes: number }

/**
 * The `history` of PerformerContext. `topic`: with the deployment's prefix. `bytesMax`: bound of
 * the cache, in bytes of records.
 */
export function historyReader({
  bus,
  topic,
  partition,
  bytesMax,
}: {
  bus: Bus
  topic: string
  partition: number
  bytesMax: number
}) {
  const remembered = new Map<string, Known>()
  let rememberedBytes = 0

  async function read(upTo: RoundId, waitMs: Milliseconds): Promise<HistoryEntry[] | undefined> {
    const known = remembered.get(upTo.conversation)
    const last = known?.entries.at(-1)
    if (known !== undefined && last?.turn === upTo.turn) {
      if (last.round === upTo.round) return [...known.entries]
      if (last.round === upTo.round - 1) return readOneMore(known, upTo, waitMs)
    }
    return readAll(upTo, waitMs)
  }

  async function readOneMore(
    { entries, bytes }: Known,
    upTo: RoundId,
    waitMs: Milliseconds,
  ): Promise<HistoryEntry[] | undefined> {
    const record = await bus.get({ topic, partition, key: historyKey(upTo), waitMs })
    const next = record && entryOf(record)
    if (next === undefined) return undefined
    return remember(upTo.conversation, {
      entries: [...entries, next.entry],
      bytes: bytes + next.bytes,
    })
  }

  async function readAll(upTo: RoundId, waitMs: Milliseconds): Promise<HistoryEntry[] | undefined> {
    const list = () => bus.list({ topic, partition, prefix: historyPrefix(upTo.conversation) })
    const key = historyKey(upTo)
    let records = await list() // the entry is nearly always there
    if (!records.some((record) => record.key === key)) {
      if ((await bus.get({ topic, partition, key, waitMs })) === undefined) return undefined
      records = await list()
    }
    const read = records.flatMap((record) => entryOf(record) ?? [])
    const kept = read.filter(
      ({ entry }) =>
        entry.turn < upTo.turn || (entry.turn === upTo.turn && entry.round <= upTo.round),
    )
    const entries = kept
      .map(({ entry }) => entry)
      .sort((a, b) => a.turn - b.turn || a.round - b.round)
    return remember(upTo.conversation, {
      entries,
      bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
    })
  }

  /** Returns a copy of the list: the caller may sort or cut it. */
  function remember(conversation: ConversationId, known: Known): HistoryEntry[] {
    forget(conversation)
    remembered.set(conversation, known)
    rememberedBytes += known.bytes
    for (const [oldest] of remembered) {
      if (rememberedBytes <= bytesMax) break
      forget(oldest)
    }
    return [...known.entries]
  }

  function forget(conversation: ConversationId): void {
    rememberedBytes -= remembered.get(conversation)?.bytes ?? 0
    remembered.delete(conversation)
  }

  return read
}

/** Undefined: a tombstone, or a piece of a content, which stands under the same prefix. */
function entryOf({ key, value }: StoredRecord): { entry: HistoryEntry; bytes: number } | undefined {
  return value === null || historyTurn(key) === undefined
    ? undefined
    : { entry: decode(value) as HistoryEntry, bytes: value.byteLength }
}
