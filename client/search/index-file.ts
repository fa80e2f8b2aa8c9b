// The SQLite file of the search index. It is a copy of the log: it can be removed at any time, and it is
// made anew. Where it cannot be a file, it is in memory.
// Only the user of the process may read the file, as the log's own file.
// Records that the log keeps encrypted are never written to a file.
// A file of another version or of another log is emptied, and a damaged one is replaced.
// Only a file of this user, in a folder with this user's mark, is opened. A link is not
// followed. A database of another application is not changed.

import { existsSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseSync as Database, DatabaseSync } from '../../shared/bus/sqlite.ts'
import { isOwnFolder } from '../../shared/lib/files/folder-owner.ts'
import { makePrivateFile } from '../../shared/lib/files/private-files.ts'
import { version } from '../../shared/lib/version.ts'
import type { Settings } from '../../shared/settings/settings.ts'

/** Raise it when the tables change. */
const schemaVersion = 7
/** `Weir` as a number: SQLite keeps it in the header of the file. */
const applicationId = 0x57656972
/** A wait for another process blocks this one, so it is short. */
const busyWaitMs = 250

/**
 * `texts`: the words of each round, without the texts themselves. The words of a title and of a fork's id
 * have the id of the conversation as a negative number. The facets of a fork have that number too.
 */
const schema = `
  CREATE TABLE positions (
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    next INTEGER NOT NULL,
    time INTEGER NOT NULL, -- of the record before next
    begin INTEGER NOT NULL, -- of the topic, when it was read
    PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- a deleted id would name another conversation
    name TEXT NOT NULL UNIQUE,
    title TEXT, -- the one that was given
    at INTEGER NOT NULL, -- of its newest activity; 0: none
    tokens INTEGER NOT NULL,
    usd INTEGER NOT NULL, -- billionths
    ms INTEGER NOT NULL, -- of its longest turn
    facts TEXT, -- those that belong to no turn
    hidden INTEGER NOT NULL DEFAULT 0, -- 1: the rules of an agent hide values of it
    words INTEGER NOT NULL DEFAULT 0 -- 1: the texts have a row for its names
  ) STRICT;
  CREATE INDEX conversations_at ON conversations (at);
  CREATE INDEX conversations_tokens ON conversations (tokens, at);
  CREATE INDEX conversations_usd ON conversations (usd, at);
  CREATE INDEX conversations_ms ON conversations (ms, at);
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER, -- NULL: it is open
    partition INTEGER NOT NULL,
    offset INTEGER NOT NULL, -- of its newest activity; -1: none
    question TEXT,
    view TEXT NOT NULL,
    UNIQUE (conversation, turn)
  ) STRICT;
  CREATE TABLE facets (
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (key, value, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX facets_turn ON facets (turn);
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    turn INTEGER NOT NULL,
    round INTEGER NOT NULL,
    input INTEGER, -- NULL: the round has no usage
    output INTEGER,
    digest TEXT, -- of its words; NULL: it has none
    UNIQUE (turn, round)
  ) STRICT;
  CREATE TABLE settled (
    attempt TEXT PRIMARY KEY,
    conversation INTEGER NOT NULL,
    usd INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX settled_conversation ON settled (conversation);
  CREATE TABLE forks (
    conversation INTEGER PRIMARY KEY,
    since INTEGER NOT NULL
  ) STRICT;
  CREATE TRIGGER conversation_deleted AFTER DELETE ON conversations BEGIN
    DELETE FROM settled WHERE conversation = old.id;
    DELETE FROM texts WHERE rowid = -old.id;
  END;
  CREATE VIRTUAL TABLE texts USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TABLE about (
    stamp TEXT NOT NULL,
    confirmed INTEGER NOT NULL, -- when it was last current
    deleted INTEGER NOT NULL -- above 0: removed words may still be in the file. Each removal adds 1
  ) STRICT;
`

export const inMemory = ':memory:'

type Place = Pick<Settings, 'dataFolder' | 'encryptionKeys' | 'encryptionCommand'>

/**
 * The file of the index for a log of these settings. In memory if there is no such folder, if the folder
 * has no mark of this user, or if this process has the keys of encrypted records.
 * Then a file from the time before the encryption is removed.
 */
export function searchFileOf({ dataFolder, encryptionKeys, encryptionCommand }: Place): string {
  if (!existsSync(dataFolder) || !isOwnFolder(dataFolder)) return inMemory
  const file = join(dataFolder, searchFileName)
  const hasKeys = encryptionKeys !== '' || encryptionCommand !== ''
  if (!hasKeys) return file
  if (existsSync(file)) removeIndexFile(file)
  return inMemory
}

function removeIndexFile(file: string): void {
  for (const path of [file, ...besideOf(file)]) rmSync(path, { force: true })
}

function besideOf(file: string): string[] {
  return [`${file}-wal`, `${file}-shm`]
}

/** A name of files beside a log (isNameBesideLog). */
const searchFileName = 'weir.search'

/** `log`: names the log, such as its prefix. Falls back to memory if the file cannot be written. */
export function openIndexFile(file: string, log: string): Database {
  const stamp = JSON.stringify([version(), log])
  // Another user's folder and a full disk: memory needs none of them.
  return (file === inMemory ? undefined : opened(file, stamp)) ?? prepared(inMemory, stamp)
}

/** Undefined: it cannot be opened for writing, or this user may not open it. */
function opened(file: string, stamp: string): Database | undefined {
  if (![file, ...besideOf(file)].every(isOwnFile)) return undefined
  for (const isLast of [false, true])
    try {
      makePrivateFile(file, besideOf(file))
      return prepared(file, stamp)
    } catch (error) {
      if (isLast || !damaged.has((error as { errcode?: number }).errcode ?? 0)) return undefined
      removeIndexFile(file)
    }
  return undefined
}

/** Also if there is none. */
function isOwnFile(file: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  return stat === undefined || (stat.isFile() && stat.uid === (process.getuid?.() ?? stat.uid))
}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26])

function prepared(file: string, stamp: string): Database {
  const db = new DatabaseSync(file, { timeout: busyWaitMs, enableForeignKeyConstraints: false })
  try {
    db.exec('PRAGMA trusted_schema = OFF')
    assertIndex(db)
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    db.exec('PRAGMA secure_delete = ON; PRAGMA cache_size = -32000; PRAGMA temp_store = MEMORY')
    if (!isOf(db, stamp)) emptied(db, stamp)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Throws for a database of another application. An empty one has none. */
function assertIndex(db: Database): void {
  const id = db.prepare('PRAGMA application_id').get()?.application_id
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  if (id !== applicationId && !isEmpty) throw new Error('the file is no search index')
}

function isOf(db: Database, stamp: string): boolean {
  const found = db.prepare('PRAGMA user_version').get()?.user_version
  if (found !== schemaVersion) return false
  return db.prepare('SELECT stamp FROM about').get()?.stamp === stamp
}

/** Other processes see the old tables or the new ones. */
function emptied(db: Database, stamp: string): void {
  db.exec('BEGIN IMMEDIATE')
  if (isOf(db, stamp)) return db.exec('COMMIT') // another process was first
  assertIndex(db)
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT NULL")
    .all()
    .map(({ name }) => String(name))
  for (const name of tables)
    if (!/^(sqlite_|texts_)/.test(name)) db.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`)
  db.exec(schema)
  db.prepare('INSERT INTO about VALUES (?, 0, 0)').run(stamp)
  db.exec(
    `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
  )
}

/** Removes all records of the log. */
export function clearIndex(db: Database): void {
  const names = ['positions', 'conversations', 'turns', 'facets', 'entries', 'settled', 'forks']
  for (const name of names) db.exec(`DELETE FROM ${name}`)
  db.exec("INSERT INTO texts (texts) VALUES ('delete-all')")
}

/** Pages of one step of a purge: some milliseconds. */
const purgePages = 200

/** The removals whose words may still be in the file. */
export function removalsIn(db: Database): number {
  return Number(db.prepare('SELECT deleted FROM about').get()?.deleted)
}

/**
 * Removes the words of these removals from the file, in steps. False: there is no further step. The
 * removals stay noted for the next purge if another process still reads the write-ahead log, or if it
 * removed more meanwhile.
 */
export function purgeStep(db: Database, removals: number, isFirst: boolean): boolean {
  const changes = () => Number(db.prepare('SELECT total_changes() AS n').get()?.n)
  const before = changes()
  const pages = isFirst ? -purgePages : purgePages
  db.exec(`INSERT INTO texts (texts, rank) VALUES ('merge', ${pages})`)
  if (changes() - before >= 2) return true
  // Pages with these words may be in the write-ahead log.
  const isTruncated = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
  if (isTruncated) db.prepare('UPDATE about SET deleted = 0 WHERE deleted = ?').run(removals)
  return false
}
