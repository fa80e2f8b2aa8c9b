// The file of the embedded bus in a data folder.

import { join } from 'node:path'

export function logFileIn(dataFolder: string): string {
  return join(dataFolder, 'weir.db')
}

/** Whether Weir makes files of this name next to a log. */
export function isNameBesideLog(name: string): boolean {
  return name.startsWith('weir.') || name.startsWith('tables-')
}

/** The file of a log and its side files: those of SQLite, of its lock, and of its owner's socket. */
export function filesOfLog(file: string): string[] {
  return ['', '-wal', '-shm', '-lock', '-lock-journal', '-owner'].map((ending) => file + ending)
}
