// The statements that write the search index.

import type { DatabaseSync } from '../../shared/bus/sqlite.ts'

export type IndexStatements = ReturnType<typeof statementsIn>

export function statementsIn(db: DatabaseSync) {
  /** The tables of FTS5 have row ids beyond a number, and each `run` reads the last one. */
  const writing = (text: string) => {
    const statement = db.prepare(text)
    statement.setReadBigInts(true)
    return statement
  }
  return {
    position: db.prepare('SELECT next, begin FROM positions WHERE topic = ? AND partition = ?'),
    setPosition: writing(
      'INSERT OR REPLACE INTO positions (topic, partition, next, time, begin) VALUES (?, ?, ?, ?, ?)',
    ),
    conversation: db.prepare('SELECT id FROM conversations WHERE name = ?'),
    addConversation: db.prepare(
      'INSERT INTO conversations (name, at, tokens, usd, ms) VALUES (?, 0, 0, 0, 0) RETURNING id',
    ),
    isHidden: db.prepare('SELECT hidden FROM conversations WHERE name = ?'),
    hide: writing('UPDATE conversations SET hidden = 1 WHERE id = ?'),
    entriesWithText: db.prepare(
      `SELECT e.id FROM turns t JOIN entries e ON e.turn = t.id
        WHERE t.conversation = ? AND e.digest NOT NULL`,
    ),
    names: db.prepare('SELECT name, title, hidden, words FROM conversations WHERE id = ?'),
    setWords: writing('UPDATE conversations SET words = ? WHERE id = ?'),
    setTitle: writing('UPDATE conversations SET title = ? WHERE id = ?'),
    fork: db.prepare('SELECT since FROM forks WHERE conversation = ?'),
    addFork: writing('INSERT OR REPLACE INTO forks (conversation, since) VALUES (?, ?)'),
    removeFork: writing('DELETE FROM forks WHERE conversation = ? AND since <= ?'),
    removeQuestions: writing('UPDATE turns SET question = NULL WHERE conversation = ?'),
    facts: db.prepare('SELECT facts FROM conversations WHERE id = ?'),
    setFacts: writing('UPDATE conversations SET facts = ? WHERE id = ?'),
    turn: db.prepare('SELECT id, view, offset FROM turns WHERE conversation = ? AND turn = ?'),
    addTurn: db.prepare(
      `INSERT INTO turns (conversation, turn, since, until, partition, offset, view)
       VALUES (?, ?, ?, NULL, ?, -1, ?) RETURNING id`,
    ),
    setTurn: writing('UPDATE turns SET since = ?, until = ?, offset = ?, view = ? WHERE id = ?'),
    question: writing('UPDATE turns SET question = ? WHERE id = ?'),
    removeFacets: writing('DELETE FROM facets WHERE turn = ?'),
    facet: writing('INSERT OR IGNORE INTO facets (key, value, turn) VALUES (?, ?, ?)'),
    entry: writing(
      `INSERT INTO entries (turn, round, input, output) VALUES (?, ?, ?, ?)
       ON CONFLICT (turn, round) DO UPDATE SET input = excluded.input, output = excluded.output`,
    ),
    entryId: db.prepare('SELECT id, digest FROM entries WHERE turn = ? AND round = ?'),
    removeEntry: writing('DELETE FROM entries WHERE id = ?'),
    /** Each of a conversation, of turns that began until a time. */
    forget: [
      `DELETE FROM texts WHERE rowid IN (SELECT e.id FROM turns t JOIN entries e ON e.turn = t.id
        WHERE t.conversation = ? AND t.since <= ?)`,
      'DELETE FROM entries WHERE turn IN (SELECT id FROM turns WHERE conversation = ? AND since <= ?)',
      'DELETE FROM facets WHERE turn IN (SELECT id FROM turns WHERE conversation = ? AND since <= ?)',
      'DELETE FROM turns WHERE conversation = ? AND since <= ?',
    ].map(writing),
    forgetSums: writing('UPDATE conversations SET facts = NULL WHERE id = ?'),
    removeEmpty: writing(
      `DELETE FROM conversations WHERE id = ?
        AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = conversations.id)
        AND NOT EXISTS (SELECT 1 FROM forks WHERE conversation = conversations.id)`,
    ),
    noteDeleted: writing('UPDATE about SET deleted = deleted + 1'),
    addText: writing('INSERT INTO texts (rowid, text) VALUES (?, ?)'),
    setDigest: writing('UPDATE entries SET digest = ? WHERE id = ?'),
    removeText: writing('DELETE FROM texts WHERE rowid = ?'),
    settled: writing('INSERT OR IGNORE INTO settled (attempt, conversation, usd) VALUES (?, ?, ?)'),
    sums: writing(
      `UPDATE conversations SET
        at = max(at, ?),
        tokens = (SELECT coalesce(sum(e.input), 0) + coalesce(sum(e.output), 0)
          FROM turns t JOIN entries e ON e.turn = t.id WHERE t.conversation = ?),
        usd = (SELECT coalesce(sum(usd), 0) FROM settled WHERE conversation = ?),
        ms = (SELECT coalesce(max(until - since), 0) FROM turns WHERE conversation = ?)
       WHERE id = ?`,
    ),
  }
}

/** Turns without an entry whose activity is deleted, and conversations without a turn or an origin. */
export function removeGone(db: DatabaseSync, partition: number, begin: number): void {
  const gone = `SELECT id FROM turns WHERE partition = ${partition} AND offset < ${begin}
    AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.turn = turns.id)`
  db.exec(`
    DELETE FROM facets WHERE turn IN (${gone});
    DELETE FROM turns WHERE id IN (${gone});
    DELETE FROM conversations WHERE facts IS NULL
      AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = conversations.id)
      AND NOT EXISTS (SELECT 1 FROM forks WHERE conversation = conversations.id);
  `)
}
