// The note that an import leaves in a log: the turns of which all records are there. A bundle also
// holds records of other turns, because its records refer to them. Without the note a later judge
// could not tell those from truncated turns. A log without an import has no such table.

import { DatabaseSync } from 'node:sqlite'
import type { Offset } from '../../contract/bus.ts'
import { openForReading } from './open-file.ts'
import { importedTurnsTable } from './schema.ts'

/** `from`: the offset in each partition from which on this process wrote the log. */
export type ImportedTurns = {
  whole: Iterable<{ partition: number; turn: Offset }>
  from: Iterable<{ partition: number; offset: Offset }>
}

/** The log must not be open. */
export function writeImportedTurns(file: string, { whole, from }: ImportedTurns): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`BEGIN; ${importedTurnsTable}`)
    const insert = db.prepare('INSERT INTO imported_turns VALUES (?, ?, ?)')
    for (const { partition, turn } of whole) insert.run(partition, turn, 0)
    for (const { partition, offset } of from) insert.run(partition, offset, 1)
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

/**
 * Whether all records of a turn are there. Undefined if the log was not imported: then every turn
 * has all records that retention left. Errors as openForReading's.
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
