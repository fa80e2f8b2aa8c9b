// Reads a conversation's history from the table, for one assigned partition. Caches the entries, so
// a round of a long conversation does not read and decode all of them again.
// Entries never change, and each round of a turn adds one at the end. So the next
// round reads one entry. A new turn reads all: an unknown number of rounds lies between.
// The cache is bounded in memory over all conversations of the partition. The
// least recently read one goes first, and only the newest one may be larger than the bound.
// Several rounds share the entries, so nobody may change them.
// Entries for which a summary stands are neither read nor kept. So a round of a
// turn without end costs no more than an early one.
// A fork's history begins with the entries of its origins, which are read with it
// and never copied, also if a summary stands for all of their entries.

import { decode } from '../codec/codec.ts'
import type { Bus, StoredRecord } from '../contract/bus.ts'
import { originsIn, sharedEntries } from '../contract/history/fork.ts'
import { historyPrefix, historyRound } from '../contract/history/history-keys.ts'
import { leavesOut, onPath, type PathEntry } from '../contract/history/history-path.ts'
import type { ConversationId, RoundId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { HistoryEntry, Origin } from '../contract/messages.ts'
import { comparedPlaces, type HistoryPlace } from '../contract/performer.ts'
import { historyKey, originKey } from '../contract/topology.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** An entry, and the bytes of its record. */
type Read = { entry: HistoryEntry; bytes: number }

/** The entries behind `after` up to the last one, in order of (turn, round). `bytes`: in memory. */
type Known = { read: Read[]; bytes: number; after: HistoryPlace | undefined }

/** Memory of a decoded entry beyond the bytes of its record. Most of a short entry. */
const entryObjectsBytes = 1_024

/**
 * The `history` of PerformerContext. `topic`: with the deployment's prefix. `bytesMax`: bound of
 * the cache, in bytes of memory. `newestBytesMax`: in bytes of records.
 */
export function historyReader({
  bus,
  topic,
  partition,
  bytesMax,
  newestBytesMax = limits.historyBytesMax,
}: {
  bus: Bus
  topic: string
  partition: number
  bytesMax: number
  newestBytesMax?: number
}) {
  const remembered = new Map<string, Known>()
  let rememberedBytes = 0

  async function read(
    upTo: RoundId,
    waitMs: Milliseconds,
    placeAfter: () => Promise<HistoryPlace | undefined> = async () => undefined,
  ): Promise<HistoryEntry[] | undefined> {
    const known = remembered.get(upTo.conversation)
    const last = known?.read.at(-1)?.entry
    if (known !== undefined && last?.turn === upTo.turn) {
      if (last.round === upTo.round) return known.read.map(({ entry }) => entry)
      if (last.round === upTo.round - 1) {
        const next = await entryAt(historyKey(upTo), waitMs)
        if (next === undefined) return undefined
        const after = await placeAfter()
        const read = [...known.read, next]
        if (after !== undefined && isStale(known.read, after))
          return remember(upTo, { read, after: undefined })
        if (!isBefore(after, known.after)) return remember(upTo, { read, after })
      }
    }
    return readAll(upTo, waitMs, placeAfter)
  }

  async function entryAt(key: string, waitMs: Milliseconds): Promise<Read | undefined> {
    const record = await bus.get({ topic, partition, key, waitMs })
    return record && entryOf(record)
  }

  async function readAll(
    upTo: RoundId,
    waitMs: Milliseconds,
    placeAfter: () => Promise<HistoryPlace | undefined>,
  ): Promise<HistoryEntry[] | undefined> {
    const list = () => recordsOf(upTo.conversation)
    const key = historyKey(upTo)
    const after = await placeAfter()
    let records = after === undefined ? await list() : [] // the entry is nearly always there
    if (!records.some((record) => record.key === key)) {
      if ((await bus.get({ topic, partition, key, waitMs })) === undefined) return undefined
      const place = await placeAfter()
      if (place !== undefined) return readAfter(upTo, place)
      records = await list()
    }
    const own = records.flatMap((record) => entryOf(record) ?? [])
    const shared: Read[] = []
    for (const origin of originsOf(upTo, records)) shared.push(...(await readOrigin(origin)))
    return remember(upTo, { read: pathOf([...shared, ...own], upTo), after: undefined })
  }

  function recordsOf(conversation: ConversationId): Promise<StoredRecord[]> {
    return bus.list({ topic, partition, prefix: historyPrefix(conversation) })
  }

  async function readOrigin(origin: Origin): Promise<Read[]> {
    const records = await recordsOf(origin.conversation)
    const entries = records.flatMap((record) => {
      const read = entryOf(record)
      return read === undefined ? [] : [{ ...read, turn: read.entry.turn }]
    })
    return sharedEntries(origin, entries)
  }

  /** Reads the keys first: the entries that are left out may be many and large. */
  async function readAfter(
    upTo: RoundId,
    after: HistoryPlace,
  ): Promise<HistoryEntry[] | undefined> {
    const fork = await bus.get({ topic, partition, key: originKey(upTo.conversation), waitMs: 0 })
    const read: Read[] = []
    for (const origin of fork === undefined ? [] : originsOf(upTo, [fork])) {
      const { conversation, turn } = origin
      const places: HistoryPlace[] = []
      for await (const place of placesOf(conversation)) places.push(place)
      sharedEntries(origin, places) // throws, also if a summary stands for these entries
      if (turn >= after.turn)
        read.push(...(await readKeysAfter({ conversation, turn, round: lastRound }, after)))
    }
    read.push(...(await readKeysAfter(upTo, after)))
    const path = pathOf(read, upTo)
    return isStale(path, after)
      ? readAll(upTo, 0, async () => undefined)
      : remember(upTo, { read: path, after })
  }

  async function readKeysAfter(upTo: RoundId, after: HistoryPlace): Promise<Read[]> {
    const read: Read[] = []
    for await (const { key, ...place } of placesOf(upTo.conversation)) {
      const entry = isWanted(place, upTo, after) ? await entryAt(key, 0) : undefined
      if (entry !== undefined) read.push(entry)
    }
    return read
  }

  /** Of all entries that the table has, with their keys. */
  async function* placesOf(
    conversation: ConversationId,
  ): AsyncGenerator<HistoryPlace & { key: string }> {
    const prefix = historyPrefix(conversation)
    for (let cursor: string | undefined = prefix; cursor !== undefined; ) {
      const keys = await bus.keys({ topic, partition, after: cursor, limit: keysRead })
      for (const { key } of keys) {
        const place = key.startsWith(prefix) ? historyRound(key) : undefined
        if (place !== undefined) yield { ...place, key }
      }
      const last = keys.at(-1)?.key
      cursor = keys.length === keysRead && last?.startsWith(prefix) === true ? last : undefined
    }
  }

  /** Keeps the entries that are wanted. Returns a list that the caller may sort or cut. */
  function remember(upTo: RoundId, { read, after }: Pick<Known, 'read' | 'after'>): HistoryEntry[] {
    const { conversation } = upTo
    const wanted = read
      .filter(({ entry }) => isWanted(entry, upTo, after))
      .sort((a, b) => comparedPlaces(a.entry, b.entry))
    const ofRecords = wanted.reduce((sum, one) => sum + one.bytes, 0)
    const bytes = ofRecords + wanted.length * entryObjectsBytes
    forget(conversation)
    remembered.set(conversation, { read: wanted, bytes, after })
    rememberedBytes += bytes
    for (const [oldest] of remembered) {
      if (rememberedBytes <= bytesMax) break
      if (oldest !== conversation || ofRecords > newestBytesMax) forget(oldest)
    }
    return wanted.map(({ entry }) => entry)
  }

  function forget(conversation: ConversationId): void {
    rememberedBytes -= remembered.get(conversation)?.bytes ?? 0
    remembered.delete(conversation)
  }

  return read
}

/** Keys that one look reads. */
const keysRead = 256

/** No turn has a later round. */
const lastRound = Number.MAX_SAFE_INTEGER

/** The entries of the path that ends with the open turn. */
function pathOf(read: readonly Read[], { turn }: RoundId): Read[] {
  return onPath(
    read.map((one) => ({ ...one, ...placeIn(one) })),
    turn,
  )
}

/** Whether the summary up to this place stands for turns that are not on the path. */
function isStale(path: readonly Read[], place: HistoryPlace): boolean {
  return leavesOut(path.map(placeIn), place)
}

function placeIn({ entry: { turn, round, afterTurn } }: Read): PathEntry {
  return { turn, round, afterTurn }
}

/** Empty: the conversation is no fork. */
function originsOf({ conversation }: RoundId, records: readonly StoredRecord[]): readonly Origin[] {
  const key = originKey(conversation)
  const record = records.find((one) => one.key === key)
  return originsIn(record?.value ? decode(record.value) : undefined)
}

function isBefore(a: HistoryPlace | undefined, b: HistoryPlace | undefined): boolean {
  return b !== undefined && (a === undefined || comparedPlaces(a, b) < 0)
}

function isWanted(
  place: HistoryPlace,
  upTo: HistoryPlace,
  after: HistoryPlace | undefined,
): boolean {
  if (comparedPlaces(place, upTo) > 0) return false
  return isBefore(after, place) || (place.turn === upTo.turn && place.round === 0)
}

/** Undefined: a tombstone, or a record of another kind, which stands under the same prefix. */
function entryOf({ key, value }: StoredRecord): Read | undefined {
  return value === null || historyRound(key) === undefined
    ? undefined
    : { entry: decode(value) as HistoryEntry, bytes: value.byteLength }
}
