// Compares the SQL objects of a log with those that Weir makes. A trigger, a view in place of a table
// or a further table is foreign: SQLite would run SQL from the writer of the file.

import type { DatabaseSync } from 'node:sqlite'
import type { TopicSpec } from '../../../contract/bus.ts'
import {
  backupTable,
  importedTurnsTable,
  importedTurnsWithoutTopic,
  partitionsMax,
  recordsView,
  schema,
  topicNameFits,
  topicSchema,
} from './schema.ts'

/**
 * The first object that no Weir makes, as words for a message. Undefined: there is none. Comments and
 * blanks of a table's SQL do not count. Throws SQLite's errors for a damaged file.
 */
export function foreignObject(db: DatabaseSync): string | undefined {
  const objects = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all()
  const shown = ({ type, name }: (typeof objects)[number]) =>
    `${type === 'index' ? 'an' : 'a'} ${type} named ${JSON.stringify(name)}`
  const base = statementsOf(schema + importedTurnsTable + importedTurnsWithoutTopic + backupTable)
  // The catalogue is read only if it is the table that Weir makes.
  const catalogue = objects.find(({ name }) => name === 'topics')
  if (catalogue === undefined) return 'no table of topics'
  if (!base.has(plain(catalogue.sql))) return shown(catalogue)
  const specs = db.prepare('SELECT name, kind, partitions FROM topics ORDER BY name').all()
  const bad = specs.find(({ name, partitions }) => !fits(String(name), Number(partitions)))
  if (bad !== undefined)
    return `a topic named ${JSON.stringify(bad.name)} with ${bad.partitions} partitions`
  const known = new Set([
    ...base,
    ...specs.flatMap((spec) => [...statementsOf(topicSchema(spec as unknown as TopicSpec))]),
    ...statementsOf(specs.length === 0 ? '' : recordsView(specs.map(({ name }) => String(name)))),
  ])
  const tables = new Set(objects.filter(({ type }) => type === 'table').map(({ name }) => name))
  const foreign = objects.find(({ type, name, tbl_name, sql }) =>
    sql === null
      ? !(type === 'index' && String(name).startsWith('sqlite_autoindex_') && tables.has(tbl_name))
      : !known.has(plain(sql)),
  )
  return foreign === undefined ? undefined : shown(foreign)
}

function fits(name: string, partitions: number): boolean {
  return topicNameFits(name) && partitions >= 1 && partitions <= partitionsMax
}

/** Each CREATE statement of our own script. */
function statementsOf(script: string): Set<string> {
  const statements = oneLine(withoutComments(script)).split(/ ?; ?/)
  return new Set(statements.filter((statement) => statement.startsWith('CREATE ')))
}

/**
 * Comments count as nothing only in a table: earlier versions had others there. Names of indexes have
 * blanks, so a comment in one could hide SQL.
 */
function plain(sql: unknown): string {
  const text = String(sql)
  return oneLine(text.startsWith('CREATE TABLE ') ? withoutComments(text) : text)
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/--.*/g, '')
}

function oneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim()
}
