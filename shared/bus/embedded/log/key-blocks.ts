// The index of the logs by key. It names the blocks of offsets in which a key has records, so a reader of
// one old conversation reads a few blocks in place of the topic. Most records of a block have a key that
// the block has already. So the index costs much less than an entry for each record.
// Each block from `indexedFrom` on has an entry for the key of each of its records.
// The records in a file of version 1 are indexed by `extend`, the newest first. Until then they are
// read without the index.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Offset, StoredRecord } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { keyBlocksSchema, offsetsInBlock, partitionTable, schemaVersion } from '../file/schema.ts'
import type { LogDatabase } from './log-database.ts'
import { type Partition, type PartitionName, type Row, recordOf } from './log-partition.ts'
import type { LogTopics } from './log-topics.ts'

export type KeyBlocks = {
  /** The records before this offset are not indexed. Infinity: none are. */
  indexedFrom(partition: Partition): Offset
  /** The indexed records of the keys, in order. Only an empty result means that there are no more. */
  read(partition: Partition, range: KeyedRange): StoredRecord[]
  /** Belongs in the transaction that writes the record. */
  add(partition: Partition, record: Pick<StoredRecord, 'key' | 'offset'>): void
  /** That transaction failed. */
  rolledBack(): void
  /** Indexes one older block: some milliseconds. False: the index is complete. */
  extend(): boolean
}

type KeyedRange = {
  keys: readonly string[]
  from: Offset
  to: Offset
  limit: number
  bytesMax: number
}

export function createKeyBlocks(database: LogDatabase, topics: LogTopics): KeyBlocks {
  const { db, readOnly, guarded, transaction } = database
  const version = () => Number(db.prepare('PRAGMA user_version').get()?.user_version)
  const partitions = () => topics.all().flatMap((topic) => topic.partitions)
  if (!readOnly && guarded(version) < schemaVersion) transaction(create)
  const isThere = guarded(version) >= schemaVersion

  const statements = new Map<string, StatementSync>()
  function statement(sql: string): StatementSync {
    const prepared = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, prepared)
    return prepared
  }

  function create(): void {
    db.exec(`${keyBlocksSchema} PRAGMA user_version = ${schemaVersion}`)
    const start = db.prepare('INSERT INTO key_blocks_from VALUES (?, ?, ?)')
    for (const { topic, partition, kind, end } of partitions())
      if (kind === 'log' && end > 0) start.run(topic, partition, Math.ceil(end / offsetsInBlock))
  }

  function blockFrom({ topic, partition }: Partition): number {
    const row = statement(
      'SELECT block FROM key_blocks_from WHERE topic = ? AND partition = ?',
    ).get(topic, partition)
    return Number(row?.block ?? 0)
  }

  return {
    indexedFrom(partition) {
      if (!isThere || partition.kind === 'table') return Number.POSITIVE_INFINITY
      return guarded(() => blockFrom(partition)) * offsetsInBlock
    },

    read(partition, { keys, from, to, limit, bytesMax }) {
      const wanted = JSON.stringify(keys)
      const table = partitionTable(partition.topic, partition.partition)
      return guarded(() => {
        const blocks = statement(
          `SELECT DISTINCT block FROM key_blocks
            WHERE key IN (SELECT value FROM json_each(?)) AND topic = ? AND partition = ? AND block >= ? ORDER BY block`,
        )
        const records = statement(
          `SELECT offset, time, key, value, id FROM ${table}
            WHERE offset >= ? AND offset < ? AND key IN (SELECT value FROM json_each(?)) ORDER BY offset`,
        )
        records.setReturnArrays(true)
        const found: StoredRecord[] = []
        let bytes = 0
        const least = Math.floor(from / offsetsInBlock)
        for (const row of blocks.iterate(wanted, partition.topic, partition.partition, least)) {
          const first = Number(row.block) * offsetsInBlock
          const end = Math.min(to, first + offsetsInBlock)
          if (first >= to) break
          const rows = records.iterate(Math.max(from, first), end, wanted)
          for (const one of rows as Iterable<unknown> as Iterable<Row>) {
            found.push(recordOf(partition, one))
            bytes += one[3]?.byteLength ?? 0
            if (found.length >= limit || bytes >= bytesMax) return found
          }
        }
        return found
      })
    },

    add(partition, { key, offset }) {
      if (partition.kind === 'table') return
      const block = Math.floor(offset / offsetsInBlock)
      if (partition.newestBlock?.block !== block) partition.newestBlock = { block, keys: new Set() }
      const { keys } = partition.newestBlock
      if (keys.has(key)) return
      keys.add(key)
      statement('INSERT OR IGNORE INTO key_blocks VALUES (?, ?, ?, ?)').run(
        ...[key, partition.topic, partition.partition, block],
      )
    },

    rolledBack() {
      for (const partition of partitions()) partition.newestBlock = undefined
    },

    extend() {
      const row = guarded(() => statement('SELECT * FROM key_blocks_from LIMIT 1').get())
      if (row === undefined) return false
      const partition = topics.partition({
        topic: String(row.topic),
        partition: Number(row.partition),
      })
      const block = Number(row.block) - 1
      const begin = Math.floor(partition.begin / offsetsInBlock)
      transaction(() => extendTo(partition, block, block <= begin))
      return true
    },
  }

  function extendTo({ topic, partition }: Partition, block: number, isLast: boolean): void {
    statement(
      `INSERT OR IGNORE INTO key_blocks SELECT DISTINCT key, ?, ?, ?
        FROM ${partitionTable(topic, partition)} WHERE offset >= ? AND offset < ? ORDER BY key`,
    ).run(...[topic, partition, block, block * offsetsInBlock, (block + 1) * offsetsInBlock])
    if (isLast)
      statement('DELETE FROM key_blocks_from WHERE topic = ? AND partition = ?').run(
        topic,
        partition,
      )
    else
      statement('UPDATE key_blocks_from SET block = ? WHERE topic = ? AND partition = ?').run(
        ...[block, topic, partition],
      )
  }
}

/**
 * Removes the entries of `keys` for blocks that lose their last record of the key. Call it before the deletion.
 * `keys` and `left` are SQL: the keys of deleted records, and the condition of a record that stays.
 */
export function removeKeyBlocks(
  db: DatabaseSync,
  { topic, partition }: PartitionName,
  { keys, left, values }: { keys: string; left: string; values: (string | number)[] },
): void {
  const table = partitionTable(topic, partition)
  db.prepare(
    `DELETE FROM key_blocks WHERE topic = ? AND partition = ? AND key IN (${keys})
      AND NOT EXISTS (SELECT 1 FROM ${table} AS record WHERE record.offset >= key_blocks.block * ${offsetsInBlock}
        AND record.offset < (key_blocks.block + 1) * ${offsetsInBlock} AND record.key = key_blocks.key AND ${left})`,
  ).run(topic, partition, ...values)
}

/** So long that the records of a large file are indexed next to other work. */
const pauseMs: Milliseconds = 20

/** Completes the index. `stop`: the next process of this file goes on. */
export function startKeyIndexing(
  extend: KeyBlocks['extend'],
  clock: Clock,
  failed: (error: unknown) => void,
): { stop(): void } {
  let cancel = (): void => {}
  goOn()

  function goOn(): void {
    try {
      if (extend()) cancel = clock.after(pauseMs, goOn)
    } catch (error) {
      failed(error)
    }
  }

  return { stop: () => cancel() }
}
