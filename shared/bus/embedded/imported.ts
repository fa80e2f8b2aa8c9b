// The note that an import leaves in a log. Its table marks the log as imported, and names the turns
// of which all records are there. A bundle also holds records of other turns, because its records
// refer to them. Without the note a later judge could not tell those from truncated turns.

import type { Offset } from '../../contract/bus.ts'
import { DatabaseSync } from '../sqlite.ts'
import { openForReading } from './open-file.ts'
import { importedTurnsTable } from './schema.ts'

/**
 * `from`: the offset in each partition from which on this process wrote the log. `usedTo`: offsets
 * before it are never given again, also if their records were left out.
 */
export type ImportNote = {
  whole: Iterable<{ partition: number; turn: Offset }>
  from: Iterable<{ partition: number; offset: Offset }>
  usedTo: Iterable<{ topic: string; partition: number; offset: Offset }>
}

/** Whether the log was made from a bundle. */
export function isImported(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'imported_turns'").get() !== undefined
}

/** The log must not be open. */
export function writeImportNote(file: string, { whole, from, usedTo }: ImportNote): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`BEGIN; ${importedTurnsTable}`)
    const insert = db.prepare('INSERT INTO imported_turns VALUES (?, ?, ?)')
    for (const { partition, turn } of whole) insert.run(partition, turn, 0)
    for (const { partition, offset } of from) insert.run(partition, offset, 1)
    const used = db.prepare('INSERT INTO trimmed VALUES (?, ?, 0, ?, 0)')
    for (const { topic, partition, offset } of usedTo)
      if (offset > 0) used.run(topic, partition, offset)
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

/**
 * `has`: whether all records of a turn are there. `beginsAnewAt`: the offset in conversation-events
 * from which on this process wrote the log, without the memory of earlier records.
 */
export type ImportedTurns = {
  has(partition: number, turn: Offset): boolean
  beginsAnewAt(partition: number): Offset
}

/**
 * Undefined if the log was not imported: then every turn has all records that retention left. Errors
 * as openForReading's.
 */
export function importedTurnsIn(file: string): ImportedTurns | undefined {
  const db = openForReading(file)
  try {
    if (!isImported(db)) return undefined
    const whole = new Set<string>()
    const from = new Map<number, Offset>()
    for (const { partition, turn, and_later } of db.prepare('SELECT * FROM imported_turns').all()) {
      if (and_later === 1) from.set(Number(partition), Number(turn))
      else whole.add(`${partition}/${turn}`)
    }
    const beginsAnewAt = (partition: number) => from.get(partition) ?? 0
    return {
      beginsAnewAt,
      has: (partition, turn) =>
        whole.has(`${partition}/${turn}`) || turn >= beginsAnewAt(partition),
    }
  } finally {
    db.close()
  }
}
