// SQLite of Node.js. An old Node.js has none, and an import of it would fail before any code could
// name the reason.

import type { DatabaseSync as Database } from 'node:sqlite'
import { requireNode } from '../lib/version.ts'

requireNode()

export type DatabaseSync = Database

export const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
