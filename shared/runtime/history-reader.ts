// Reads a conversation's history out of the table, for one assigned partition, and remembers what
// it has read, so that a round of a long conversation does not read and decode all of it again.
// HISTORY-READER-1. An entry never changes once it is written, and within a turn each round adds
//     one behind the last. So what was read up to (turn, round) is still all there is up to there,
//     and the next round needs one entry more. For a new turn everything is read again: rounds of
//     the one before, whose number is not known here, have come in between, and old conversations
//     are taken out of the table.
// HISTORY-READER-2. What is remembered is bounded in bytes, over all conversations of the
//     partition; the ones that were asked for longest ago go first. A new owner begins with
//     nothing.
// HISTORY-READER-3. Entries are handed out to several rounds: nobody may change them.

import { decode } from '../codec/codec.ts'
import type { Bus, StoredRecord } from '../contract/bus.ts'
import type { ConversationId, RoundId } from '../contract/ids.ts'
import type { HistoryEntry } from '../contract/messages.ts'
import { historyKey, historyPrefix } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** All entries up to the last one, in order of (turn, round), and the bytes of their records. */
type Known = { entries: HistoryEntry[]; bytes: number }

/**
 * As `history` of PerformerContext. `topic`: with the deployment's prefix; `bytesMax`: of records
 * whose entries are remembered.
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
    let records = await list() // nearly always the entry is there already
    if (!records.some((record) => record.key === key)) {
      if ((await bus.get({ topic, partition, key, waitMs })) === undefined) return undefined
      records = await list()
    }
    const read = records.flatMap((record) => entryOf(record) ?? [])
    const wanted = read.filter(
      ({ entry }) =>
        entry.turn < upTo.turn || (entry.turn === upTo.turn && entry.round <= upTo.round),
    )
    const entries = wanted
      .map(({ entry }) => entry)
      .sort((a, b) => a.turn - b.turn || a.round - b.round)
    return remember(upTo.conversation, {
      entries,
      bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0),
    })
  }

  /** A copy of the list: whoever gets it may sort or cut it. */
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

function entryOf({ value }: StoredRecord): { entry: HistoryEntry; bytes: number } | undefined {
  return value === null
    ? undefined
    : { entry: decode(value) as HistoryEntry, bytes: value.byteLength }
}
