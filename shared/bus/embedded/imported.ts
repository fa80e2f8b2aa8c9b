// What an import leaves in a log for whoever judges it again: of which turns all records are there.
// A bundle holds records of other turns too, because what it holds refers to them; in a log nobody
// could tell them from turns that were cut. A log that nobody imported has no such table.

import { DatabaseSync } from 'node:sqlite'
import type { Offset } from '../../contract/bus.ts'
import { openForReading } from './schema.ts'

const table = `
  CREATE TABLE imported_turns (
    partition INTEGER NOT NULL,
    turn INTEGER NOT NULL, -- the offset in conversation-events of the record that opened it
    and_later INTEGER NOT NULL, -- 1: and all that are opened from there on, because nothing was left out behind it
    PRIMARY KEY (partition, turn)
  ) STRICT, WITHOUT ROWID;
`

/** `from`: by partition, the offset from which on the log is written here. */
export type ImportedTurns = {
  whole: Iterable<{ partition: number; turn: Offset }>
  from: Iterable<{ partition: number; offset: Offset }>
}

/** Into a log that nobody has open. */
export function writeImportedTurns(file: string, { whole, from }: ImportedTurns): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`BEGIN; ${table}`)
    const insert = db.prepare('INSERT INTO imported_turns VALUES (?, ?, ?)')
    for (const { partition, turn } of whole) insert.run(partition, turn, 0)
    for (const { partition, offset } of from) insert.run(partition, offset, 1)
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

/**
 * Whether all records of the turn are there; undefined: nobody imported the log, so those of every
 * turn that retention left. Errors as openForReading's.
 */
export function importedTurnsIn(
  file: string,
): ((partition: number, turn: Offset) => boolean) | undefined {
  const db = openForReading(file)
  try {
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'imported_turns'").get() === undefined)
      return undefined
    const whole = new Set<string>()
    const from = new Map<number, Offset>()
    for (const { partition, turn, and_later } of db.prepare('SELECT * FROM imported_turns').all()) {
      if (and_later === 1) from.set(Number(partition), Number(turn))
      else whole.add(`${partition}/${turn}`)
    }
    return (partition, turn) =>
      whole.has(`${partition}/${turn}`) || turn >= (from.get(partition) ?? 0)
  } finally {
    db.close()
  }
}
