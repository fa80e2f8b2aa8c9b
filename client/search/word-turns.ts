// The turns that have all words of a search. SQLite searches in the process with the stages, which wait
// for it, and a short word can stand in every round of the log.
// Other work of the process runs between two words, and no word is searched after the
// deadline or after one that no turn has.

import { randomUUID } from 'node:crypto'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { DatabaseSync } from '../../shared/bus/sqlite.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { searchedWords } from '../../shared/view/filter/searched-words.ts'

/**
 * Calls `use` with the name of a table of the turns, which lasts until `use` returns. Undefined: the texts
 * have no word. Throws `usage` after `limits.searchMsMax`.
 */
export async function withWordTurns<T>(
  db: DatabaseSync,
  texts: readonly string[],
  clock: Pick<Clock, 'monotonic'>,
  use: (table: string | undefined) => T,
): Promise<T> {
  const words = searchedWords(texts)
  const [first, ...others] = words.toSorted((a, b) => b.length - a.length) // long words are rare
  if (first === undefined) return use(undefined)
  const table = `found_${randomUUID().replaceAll('-', '')}`
  const deadline = clock.monotonic() + limits.searchMsMax
  db.exec(`CREATE TEMP TABLE ${table} (turn INTEGER PRIMARY KEY)`)
  try {
    let left = db.prepare(`INSERT OR IGNORE INTO ${table} ${withWord}`).run(first).changes
    const drop = db.prepare(`DELETE FROM ${table} WHERE turn NOT IN (${withWord})`)
    for (const word of others) {
      if (Number(left) === 0) break
      await othersTurn()
      if (clock.monotonic() >= deadline) throw tooLong(words.length)
      left = Number(left) - Number(drop.run(word).changes)
    }
    return use(table)
  } finally {
    db.exec(`DROP TABLE ${table}`)
  }
}

/** In a round of the turn, in the title of its conversation, or in the names of a fork. */
const withWord = `
  SELECT e.turn FROM texts w JOIN entries e ON e.id = w.rowid WHERE w.text MATCH ?1
  UNION ALL
  SELECT t.id FROM texts w JOIN turns t ON t.conversation = -w.rowid
   WHERE w.text MATCH ?1 AND w.rowid < 0
  UNION ALL
  SELECT w.rowid FROM texts w JOIN forks f ON f.conversation = -w.rowid
   WHERE w.text MATCH ?1 AND w.rowid < 0`

function tooLong(words: number) {
  const seconds = limits.searchMsMax / 1000
  return usageError(
    `the search for ${words} words was ended after ${seconds} s: give fewer or longer words`,
  )
}
