// Bounds the numbers and the sizes of a bundle, which anybody can seal. A number that JavaScript
// cannot hold would end a reader with an error of its engine. A huge number of partitions would keep
// it busy, and a huge record would fill its memory.

import type { DatabaseSync } from 'node:sqlite'
import { limits } from '../../contract/limits.ts'
import { WeirError } from '../../lib/errors.ts'

/** Twice the setting's maximum (shared/settings/settings.ts), for topics that others made. */
export const bundlePartitionsMax = 1_000
/** Later offsets and times follow these, so they stay far below the largest safe integer. */
const offsetMax = 2 ** 52
/** The largest time of a Date, a year before its end: times are added to it. */
const timeMax = 8.64e15 - 366 * 24 * 60 * 60 * 1000
const numberMax = Number.MAX_SAFE_INTEGER

/** The columns with numbers, and the largest value of each. The least is 0. */
const columns: [table: 'records' | 'turns', column: string, max: number][] = [
  ['records', 'partition', bundlePartitionsMax - 1],
  ['records', 'offset', offsetMax],
  ['records', 'time', timeMax],
  ['turns', 'partition', bundlePartitionsMax - 1],
  ['turns', 'turn', offsetMax],
  ['turns', 'began_at', timeMax],
  ['turns', 'ended_at', timeMax],
  ...['rounds', 'calls', 'input_tokens', 'output_tokens'].map(
    (column): (typeof columns)[number] => ['turns', column, numberMax],
  ),
]

/** Throws `bundle.invalid` with the column, the value and its bounds. */
export function refuseOutOfBounds(db: DatabaseSync, file: string): void {
  for (const table of ['records', 'turns'] as const) {
    const own = columns.filter(([of]) => of === table)
    const extremes = own.map(([, column]) => `min(${column}), max(${column})`)
    const statement = db.prepare(`SELECT ${extremes.join(', ')} FROM ${table}`)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    const found = statement.get() as unknown as (bigint | null)[]
    for (const [at, [, column, max]] of own.entries())
      for (const value of found.slice(2 * at, 2 * at + 2))
        if (value !== null && (value < 0n || value > BigInt(max)))
          throw outOfBounds(file, `the column ${column} of the table ${table}`, String(value), max)
  }
}

/**
 * Throws `bundle.invalid` with the place of a record that no log accepts. SQLite knows the bytes of a
 * value without reading it.
 */
export function refuseLargeRecords(db: DatabaseSync, file: string): void {
  const found = db
    .prepare(
      `SELECT topic, partition, offset, octet_length(value) + octet_length(key) AS bytes
      FROM records WHERE octet_length(value) > ?1 OR octet_length(key) > ?1 LIMIT 1`,
    )
    .get(limits.recordBytesMax)
  if (found === undefined) return
  const { topic, partition, offset, bytes } = found
  throw new WeirError(
    'bundle.invalid',
    `${file}: the record at offset ${offset} of partition ${partition} of ${named(topic)} has ${bytes} bytes; must be at most ${limits.recordBytesMax}. No log of Weir has such a record: export it again`,
  )
}

/** Throws `bundle.invalid` if a topic of the records is missing in `topics`: no reader would find it. */
export function refuseUnlistedTopics(db: DatabaseSync, file: string): void {
  const found = db
    .prepare('SELECT topic FROM records WHERE topic NOT IN (SELECT name FROM topics) LIMIT 1')
    .get()
  if (found === undefined) return
  throw new WeirError(
    'bundle.invalid',
    `${file}: the table topics lacks the topic ${named(found.topic)} of its records. weir export writes them all: export it again`,
  )
}

/** Throws `bundle.invalid`. `facts`: the rows of the table `bundle`. */
export function partitionsIn(file: string, facts: ReadonlyMap<string, string>): number {
  return numberIn(file, facts, 'partitions', 1, bundlePartitionsMax)
}

/** Throws `bundle.invalid`. */
export function recordsIn(file: string, facts: ReadonlyMap<string, string>): number {
  return numberIn(file, facts, 'records', 0, numberMax)
}

function numberIn(
  file: string,
  facts: ReadonlyMap<string, string>,
  key: string,
  min: number,
  max: number,
): number {
  const text = facts.get(key) ?? ''
  const value = Number(text)
  if (!/^\d{1,16}$/.test(text) || value < min || value > max)
    throw outOfBounds(file, `the row ${key} of the table bundle`, JSON.stringify(text), max, min)
  return value
}

/** Anybody may have written it. */
function named(topic: unknown): string {
  return JSON.stringify(String(topic).slice(0, 40))
}

function outOfBounds(file: string, what: string, value: string, max: number, min = 0): WeirError {
  return new WeirError(
    'bundle.invalid',
    `${file}: ${what} is ${value.slice(0, 40)}; must be from ${min} to ${max}. No log of Weir has such a number: export it again`,
  )
}
