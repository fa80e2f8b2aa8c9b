// Deletes all records of conversations from the file, and their bytes: `PRAGMA secure_delete` zeroes
// them in the pages, VACUUM writes all pages anew, and the checkpoint empties the write-ahead log.
// Offsets stay used, and no time goes back.
// Nothing is deleted if an inbox has a newer record of one of the conversations than the
// caller has read: it may open a turn.

import type { DatabaseSync } from 'node:sqlite'
import type { Erasure } from '../../../contract/bus.ts'
import { historyPrefix } from '../../../contract/history/history-keys.ts'
import {
  guardTopicName,
  topics as known,
  nameWithoutPrefix,
  summaryKey,
} from '../../../contract/topology.ts'
import { prefixEnd } from '../../prefix-end.ts'
import { isBusy } from '../failure.ts'
import { partitionTable } from '../file/schema.ts'
import { removeKeyBlocks } from './key-blocks.ts'
import type { LogDatabase } from './log-database.ts'
import type { Partition } from './log-partition.ts'
import type { LogTopics } from './log-topics.ts'
import { remember } from './trim.ts'

/**
 * Bytes of a log that is written anew. It holds up the owner for a few seconds. A larger one is not:
 * `VACUUM` while no Weir runs does it.
 */
const vacuumBytesMax = 1024 * 1024 * 1024

/** Undefined: a conversation has newer records. Otherwise the number of deleted records. */
export function eraseRecords(
  database: LogDatabase,
  topics: LogTopics,
  erasure: Erasure,
): number | undefined {
  const { db, transaction } = database
  const keys = JSON.stringify(erasure.conversations)
  const own = topics.all().filter(({ spec }) => holdsContent(spec.name, erasure.topicPrefix))
  const audit = `${erasure.topicPrefix}audit`
  const evidence = topics.all().filter(({ spec }) => spec.name === audit)
  const partitions = [...own, ...evidence].flatMap((topic) => topic.partitions)
  const erased = transaction(() => {
    if (erasure.seen.some((place) => hasNewer(db, topics.partition(place), place.end, erasure)))
      return undefined
    for (const partition of evidence.flatMap((topic) => topic.partitions))
      eraseContent(db, partition, { keys, erasure })
    return own.flatMap(({ spec, partitions: ofTopic }) =>
      ofTopic.map((partition) =>
        spec.kind === 'table'
          ? eraseKeys(db, partition, erasure)
          : eraseFromLog(db, partition, { keys, erasure }),
      ),
    )
  })
  if (erased === undefined) return undefined
  for (const partition of partitions) {
    partition.tail.clear()
    partition.newestBlock = undefined
    delete partition.newest
  }
  return erased.reduce((sum, count) => sum + count, 0)
}

/**
 * Removes deleted bytes from the unused parts of the file and from the write-ahead log. False: a
 * reader still has the pages of before, or the file is too large to write it anew while Weir runs.
 */
export function overwriteDeleted({ db, guarded, usedBytes }: LogDatabase): boolean {
  return guarded(() => {
    const isSmall = usedBytes() <= vacuumBytesMax
    try {
      if (isSmall) db.exec('VACUUM')
      const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
      return isSmall && busy === 0
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  })
}

/** Whether records of the topic, named with its prefix, have texts of conversations. */
function holdsContent(topic: string, topicPrefix: string): boolean {
  const name = nameWithoutPrefix(topic, topicPrefix)
  if (name?.startsWith(guardTopicName(''))) return true
  const found = Object.entries(known).find(([one]) => one === name)?.[1]
  return found !== undefined && found.withoutContent !== true
}

function hasNewer(
  db: DatabaseSync,
  partition: Partition,
  end: number,
  { conversations }: Erasure,
): boolean {
  const table = partitionTable(partition.topic, partition.partition)
  const wanted = new Set<string>(conversations)
  const written = db
    .prepare(
      `SELECT 1 FROM ${table} WHERE offset >= ? AND key IN (SELECT value FROM json_each(?)) LIMIT 1`,
    )
    .get(end, JSON.stringify(conversations))
  return written !== undefined || partition.staged.some(({ key }) => wanted.has(key))
}

/** Evidence stays: a record that is missing would break its chain (shared/contract/audit/link.ts). */
function eraseContent(
  db: DatabaseSync,
  { topic, partition }: Partition,
  { keys, erasure }: { keys: string; erasure: Erasure },
): void {
  const update = db.prepare(
    `UPDATE ${partitionTable(topic, partition)} SET value = ? WHERE offset = ? AND key IN (SELECT value FROM json_each(?))`,
  )
  for (const record of erasure.evidence)
    if (record.partition === partition) update.run(record.value, record.offset, keys)
}

function eraseFromLog(
  db: DatabaseSync,
  partition: Partition,
  { keys, erasure }: { keys: string; erasure: Erasure },
): number {
  const kept = erasure.keep
    .filter(
      ({ topic, partition: number }) => topic === partition.topic && number === partition.partition,
    )
    .map(({ offset }) => offset)
  removeKeyBlocks(db, partition, {
    keys: 'SELECT value FROM json_each(?)',
    left: 'record.offset IN (SELECT value FROM json_each(?))',
    values: [keys, JSON.stringify(kept)],
  })
  return erase(db, partition, {
    where:
      'key IN (SELECT value FROM json_each(?)) AND offset NOT IN (SELECT value FROM json_each(?))',
    values: [keys, JSON.stringify(kept)],
  })
}

function eraseKeys(
  db: DatabaseSync,
  partition: Partition,
  { conversations, forks }: Erasure,
): number {
  const summaries = JSON.stringify(forks.map(summaryKey))
  const where = 'key IN (SELECT value FROM json_each(?))'
  const ofForks = forks.length === 0 ? 0 : erase(db, partition, { where, values: [summaries] })
  return conversations.reduce((sum, conversation) => {
    const prefix = historyPrefix(conversation)
    const values = [prefix, prefixEnd(prefix)]
    return sum + erase(db, partition, { where: 'key >= ? AND key < ?', values })
  }, ofForks)
}

function erase(
  db: DatabaseSync,
  partition: Partition,
  { where, values }: { where: string; values: (string | Uint8Array)[] },
): number {
  const table = partitionTable(partition.topic, partition.partition)
  const last = db
    .prepare(`SELECT max(offset) AS last FROM ${table} WHERE ${where}`)
    .get(...values)?.last
  if (typeof last !== 'number') return 0
  const { topic, partition: number, begin } = partition
  remember(db, { topic, partition: number }, { begin, deletedTo: last + 1 })
  return Number(db.prepare(`DELETE FROM ${table} WHERE ${where}`).run(...values).changes)
}
