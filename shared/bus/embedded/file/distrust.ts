// SQLite's advice for files from strangers (https://sqlite.org/security.html).

import type { DatabaseSync } from 'node:sqlite'

/** Its schema calls no function with side effects, and damaged pages are found before they are used. */
export function distrust(db: DatabaseSync): void {
  db.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
}
