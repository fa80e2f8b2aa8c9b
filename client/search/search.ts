// Finds conversations and turns by a filter. Reads the log into the index, from the index's position on,
// and asks the index.
// A read ends at the end that the log had when it began, so a busy log does not hold it.
// An index that may have missed a deletion, or that is of another log, is made anew.
// Memory: the records of one transaction, bounded by their number and their bytes.

import { setImmediate as othersTurn } from 'node:timers/promises'
import { batchesOf } from '../../shared/bus/range.ts'
import { letterCodec, messageOf } from '../../shared/codec/message-of.ts'
import type { PartitionEnds, StoredRecord } from '../../shared/contract/bus.ts'
import {
  historyPrefix,
  historyRound,
  titledConversation,
} from '../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { HistoryEntry } from '../../shared/contract/messages.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { pause } from '../../shared/lib/pause.ts'
import { distinctRules, redactionRules } from '../../shared/runtime/redaction/agent-redaction.ts'
import { createRedaction } from '../../shared/runtime/redaction/redaction.ts'
import {
  acceptedValues,
  type Sort,
  type TurnFilter,
  unknownValue,
  type ValueKey,
} from '../../shared/view/filter/turn-filter.ts'
import type { TurnView } from '../../shared/view/turn-view.ts'
import { contextIn } from '../history/context-turns.ts'
import { forkedConversation } from '../history/lone-forks.ts'
import { endsOf, type ReadableLog } from '../history/readable-log.ts'
import type { ConversationSummary } from '../history/summary.ts'
import { clearIndex, inMemory, openIndexFile, purgeStep, removalsIn } from './index-file.ts'
import {
  eachTurn,
  findConversations,
  findTurns,
  knownValues,
  type Searched,
  treeOfConversation,
} from './queries.ts'
import {
  createTurnIndex,
  type IndexedTopic,
  indexedTopics,
  type Position,
  placeOf,
  positionsIn,
  type ShownEntries,
} from './turn-index.ts'
import { withWordTurns } from './word-turns.ts'

export type PageOptions = { sort?: Sort; limit: number; skip?: number }

/** `total`: the conversations that match, on all pages. */
export type FoundPage = { conversations: ConversationSummary[]; total: number }

export type Search = {
  /**
   * Reads the records that the log has now. Until then, the answers are about those that were read.
   */
  refresh(): Promise<void>
  /** The number of records that a running read has still to read. */
  readonly behind: number
  /** A running read waits for this work. */
  whilePaused<T>(work: () => Promise<T>): Promise<T>
  /** Throws `usage` for words that need too long. */
  page(filter: TurnFilter, options: PageOptions): Promise<FoundPage>
  /** The ids of the matching turns. Throws as `page`. */
  turns(filter: TurnFilter): Promise<Map<ConversationId, Set<number>>>
  /** Calls `each` with the view of each matching turn, the earliest first. Throws as `page`. */
  views(
    filter: TurnFilter,
    each: (conversation: ConversationId, view: TurnView) => void,
  ): Promise<void>
  /** Throws `usage` for an agent, a tool, a guard or a tenant that no turn of this log has. */
  assertKnown(filter: TurnFilter): void
  /** A few of the values that turns have. */
  known(key: ValueKey): string[]
  /** The root of the conversation's tree, by its newest turn. Undefined: no turn is known. */
  treeOf(conversation: ConversationId): ConversationId | undefined
  /** Resolves when no read runs any more. */
  close(): Promise<void>
}

/** Before the log forgets deletions: both buses keep them for a day. */
const unusedMsMax = 20 * 3_600_000

/** Records that are read for one transaction. A larger one would hold up the process. */
const recordsAtOnce = 500
const bytesAtOnce = 8 * 1024 * 1024

/** Opens the index of the log. It is empty before the first `refresh`. `clock`: of the deadline. */
export function openSearch(
  log: ReadableLog,
  { clock = systemClock }: { clock?: Pick<Clock, 'now' | 'monotonic'> } = {},
): Search {
  const { topicPrefix, partitions } = log
  const db = openIndexFile(log.searchFile ?? inMemory, JSON.stringify([topicPrefix, partitions]))
  const index = createTurnIndex(db)
  let reading: Promise<void> = Promise.resolve()
  let behind = 0
  const pauses = createPauses()
  let isClosed = false

  async function readOn(): Promise<void> {
    const all = await placesOf(log)
    if (isOld(all) || !(await isSameLog(log, all, positionsIn(db)))) {
      db.exec('BEGIN IMMEDIATE')
      clearIndex(db)
      db.exec('COMMIT')
    }
    let left = 0
    const positions = positionsIn(db)
    for (const place of all) left += Math.max(0, place.end - nextOf(place, positions))
    log.progress.expect(left)
    behind = left
    for (const place of all) await readPlace(place)
    behind = 0
    await purge()
    if (!isClosed) db.exec(`UPDATE about SET confirmed = ${systemClock.now()}`)
  }

  async function purge(): Promise<void> {
    const removals = removalsIn(db)
    let isLeft = removals > 0
    for (let isFirst = true; isLeft && !isClosed; isFirst = false) {
      isLeft = purgeStep(db, removals, isFirst)
      await othersTurn()
    }
  }

  /** Kafka and the embedded bus keep the mark of a deletion for a day. */
  function isOld(all: readonly Place[]): boolean {
    const { confirmed } = db.prepare('SELECT confirmed FROM about').get() ?? {}
    const isBegun = all.length > 0 && positionsIn(db).size > 0
    const age = systemClock.now() - Number(confirmed)
    return isBegun && Number(confirmed) > 0 && age > unusedMsMax
  }

  async function readPlace(place: Place): Promise<void> {
    const { topic, partition, begin, end } = place
    for (;;) {
      const stored = positionsIn(db).get(placeOf(topic, partition))
      const from: Position = { ...(stored ?? { next: begin, time: 0 }), begin }
      const next = Math.max(from.next, begin)
      if (next >= end || isClosed) return
      const range = { topic: topicPrefix + topic, partition, from: next, to: end }
      const records: StoredRecord[] = []
      let last: StoredRecord | undefined
      let count = 0
      let bytes = 0
      for await (const batch of batchesOf(log.bus, range)) {
        last = batch.at(-1) ?? last
        count += batch.length
        for (const record of batch) {
          bytes += record.value?.length ?? 0
          if (topic !== 'history' || isIndexed(record)) records.push(record)
        }
        if (count >= recordsAtOnce || bytes >= bytesAtOnce) break
      }
      // Without records, all that is left is compacted away.
      const to = {
        next: last === undefined ? end : last.offset + 1,
        time: last?.time ?? from.time,
        begin,
      }
      await write({ topic, partition, from, to, records })
      log.progress.read(to.next - next)
      behind = Math.max(0, behind - (to.next - next))
      await othersTurn()
      await pauses.over()
    }
  }

  async function write(batch: Parameters<typeof index.add>[0]): Promise<void> {
    const shown =
      batch.topic === 'history'
        ? await shownOf(log, index.hiddenIn(batch.records))
        : new Map<string, []>()
    try {
      index.add(batch, shown)
    } catch (error) {
      if (!isBusy(error)) throw error
      await pause(systemClock, 100) // another process writes; its position counts
    }
  }

  /** Not the pieces of files and summaries, and no turn that is only context in a bundle. */
  function isIndexed({ key }: StoredRecord): boolean {
    const id = historyRound(key)
    if (id === undefined) return (titledConversation(key) ?? forkedConversation(key)) !== undefined
    return log.bundle === undefined || !contextIn(id.conversation, log.bundle)(id.turn)
  }

  /** A bus without an index would copy the whole history for a list. */
  function searched<T>(filter: TurnFilter, find: (asked: Searched) => T): Promise<T> {
    return withWordTurns(db, filter.text, clock, (table) =>
      find({ filter, table, now: clock.now() }),
    )
  }

  return {
    refresh() {
      reading = reading.catch(() => {}).then(readOn)
      return reading
    },

    get behind() {
      return behind
    },

    whilePaused: pauses.during,
    page: (filter, options) => searched(filter, (asked) => findConversations(db, asked, options)),

    turns: (filter) => searched(filter, (asked) => findTurns(db, asked)),

    views: (filter, each) => searched(filter, (asked) => eachTurn(db, asked, each)),

    assertKnown({ values }) {
      for (const [key, given] of values)
        if (acceptedValues(key) === null && knownValues(db, key, given).length === 0)
          throw unknownValue(key, given, knownValues(db, key))
    },

    known: (key) => knownValues(db, key),
    treeOf: (conversation) => treeOfConversation(db, conversation),
    async close() {
      isClosed = true
      await reading.catch(() => {})
      db.close()
    },
  }
}

async function shownOf(
  log: ReadableLog,
  conversations: ReadonlySet<string>,
): Promise<ShownEntries> {
  const shown = new Map<string, HistoryEntry[]>()
  for (const id of conversations) shown.set(id, log.hasIndex ? await shownEntries(log, id) : [])
  return shown
}

function createPauses() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    over: () => last,
    during<T>(work: () => Promise<T>): Promise<T> {
      const working = work()
      // without their values, or each page would keep all before it
      last = Promise.allSettled([last, working]).then(() => undefined)
      return working
    },
  }
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5
}

type Place = PartitionEnds & { topic: IndexedTopic }

async function placesOf(log: ReadableLog): Promise<Place[]> {
  const all: Place[] = []
  for (const topic of indexedTopics)
    for (const ends of await endsOf(log, topic)) all.push({ topic, ...ends })
  return all
}

function nextOf(
  { topic, partition, begin }: Place,
  positions: ReadonlyMap<string, Position>,
): number {
  return Math.max(begin, positions.get(placeOf(topic, partition))?.next ?? begin)
}

/** Whether the last records that were read are still the same ones, as far as they are there. */
async function isSameLog(
  log: ReadableLog,
  all: readonly Place[],
  positions: ReadonlyMap<string, Position>,
): Promise<boolean> {
  for (const place of all) {
    const { topic, partition, begin, end } = place
    const position = positions.get(placeOf(topic, partition))
    if (position === undefined || position.next === 0) continue
    if (position.next > end) return false
    if (position.next <= begin) continue
    const [last] = await log.bus.read({
      topic: log.topicPrefix + topic,
      partition,
      from: position.next - 1,
      to: position.next,
      limit: 1,
      bytesMax: 1,
    })
    if (last !== undefined && last.offset === position.next - 1 && last.time !== position.time)
      return false
  }
  return true
}

/** The history of a conversation with hidden values, as its readers may see it. */
async function shownEntries(
  { bus, topicPrefix, partitions }: ReadableLog,
  conversation: string,
): Promise<HistoryEntry[]> {
  const records = await bus.list({
    topic: `${topicPrefix}history`,
    partition: partitionOf(conversation, partitions),
    prefix: historyPrefix(conversation),
  })
  const entries = records.flatMap(({ value }) => {
    const entry = messageOf(value)
    return entry?.type === 'history-entry' ? [entry] : []
  })
  const rules = redactionRules(distinctRules(entries.flatMap(({ redact }) => redact)), 'word')
  const redaction = createRedaction(rules, { keepsIds: true, letters: letterCodec })
  for (const entry of entries) redaction.learn(entry)
  return entries.flatMap((entry) => (redaction.redact(entry) as HistoryEntry | undefined) ?? [])
}
