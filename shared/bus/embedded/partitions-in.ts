// The number of partitions of a topic in the file of a log, before a bus is opened.

import { existsSync } from 'node:fs'
import { openForReading } from './file/open-file.ts'

/** Undefined: no such topic. Also if the file cannot be read: opening the bus reports the reason. */
export function partitionsIn(file: string, topic: string): number | undefined {
  if (!existsSync(file)) return undefined
  try {
    const db = openForReading(file)
    try {
      const row = db.prepare('SELECT partitions FROM topics WHERE name = ?').get(topic)
      return row === undefined ? undefined : Number(row.partitions)
    } finally {
      db.close()
    }
  } catch {
    return undefined
  }
}
