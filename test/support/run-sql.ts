// Runs SQL on a file as a foreign program would. The tests themselves must not import node:sqlite.

import { execFileSync } from 'node:child_process'

/** The rows of a SELECT or a PRAGMA; null for other statements. */
export function runSql(database: string, sql: string): unknown {
  const program = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(process.argv[1])
    const sql = process.argv[2]
    if (/^(SELECT|PRAGMA)/.test(sql)) console.log(JSON.stringify(db.prepare(sql).all()))
    else { db.exec(sql); console.log('null') }
    db.close()`
  return JSON.parse(
    execFileSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '-e', program, database, sql],
      { encoding: 'utf8' },
    ),
  )
}
