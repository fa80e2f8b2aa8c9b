// The note that an import leaves in a log. Its table marks the log as imported, and names the turns
// of which all records are there. A bundle also holds records of other turns, because its records
// refer to them. Without the note a later judge could not tell those from truncated turns.

import type { Offset } from '../../contract/bus.ts'
import { DatabaseSync } from '../sqlite.ts'
import { openForReading } from './file/open-file.ts'
import { importedTurnsTable } from './file/schema.ts'

/**
 * A turn's number is an offset in the inbox `topic`. `from`: the offset in each inbox from which on
 * this process wrote the log. No offset before it is given again, also if its record was left out.
 */
export type ImportNote = {
  whole: Iterable<{ topic: string; partition: number; turn: Offset }>
  from: Iterable<{ topic: string; partition: number; offset: Offset }>
}

/** Whether the log was made from a bundle. */
export function isImported(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'imported_turns'").get() !== undefined
}

/** The log must not be open. */
export function writeImportNote(file: string, { whole, from }: ImportNote): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`BEGIN; ${importedTurnsTable}`)
    const insert = db.prepare('INSERT INTO imported_turns VALUES (?, ?, ?, ?)')
    for (const { topic, partition, turn } of whole) insert.run(topic, partition, turn, 0)
    const used = db.prepare('INSERT INTO trimmed VALUES (?, ?, 0, ?, 0)')
    for (const { topic, partition, offset } of from) {
      insert.run(topic, partition, offset, 1)
      if (offset > 0) used.run(topic, partition, offset)
    }
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

/**
 * `has`: whether all records of a turn are there. `beginsAnewAt`: the offset in the inbox from which on
 * this process wrote the log, without the memory of earlier records.
 */
export type ImportedTurns = {
  has(topic: string, partition: number, turn: Offset): boolean
  beginsAnewAt(topic: string, partition: number): Offset
}

/**
 * Undefined if the log was not imported: then every turn has all records that retention left.
 * `formerTopic`: the inbox of all turns in the note of an earlier Weir. Errors as openForReading's.
 */
export function importedTurnsIn(file: string, formerTopic: string): ImportedTurns | undefined {
  const db = openForReading(file)
  try {
    if (!isImported(db)) return undefined
    const whole = new Set<string>()
    const from = new Map<string, Offset>()
    const rows = db.prepare('SELECT * FROM imported_turns').all()
    for (const { topic = formerTopic, partition, turn, and_later } of rows) {
      if (and_later === 1) from.set(`${topic}/${partition}`, Number(turn))
      else whole.add(`${topic}/${partition}/${turn}`)
    }
    const beginsAnewAt = (topic: string, partition: number) =>
      from.get(`${topic}/${partition}`) ?? 0
    return {
      beginsAnewAt,
      has: (topic, partition, turn) =>
        whole.has(`${topic}/${partition}/${turn}`) || turn >= beginsAnewAt(topic, partition),
    }
  } finally {
    db.close()
  }
}
