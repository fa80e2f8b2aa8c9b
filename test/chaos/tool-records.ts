// The tools' own records, line by line.

import { existsSync, readFileSync } from 'node:fs'
import type { Start } from '../evidence/evidence.ts'

type Line =
  | { event: 'start'; call: unknown; tool: string; process: string; start: string; at: number }
  | { event: 'end'; start: string; at: number }

/**
 * `ended`: the number of starts with an end. Throws at a damaged line: the whole file is then no
 * evidence.
 */
export function readToolRecords(file: string): { starts: Start[]; ended: number } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text.split('\n').filter((line) => line !== '')
  const starts: Start[] = []
  let ended = 0
  for (const line of lines.map((line) => JSON.parse(line) as Line)) {
    if (line.event === 'end') ended += 1
    else
      starts.push({
        call: JSON.stringify(line.call),
        tool: line.tool,
        process: line.process,
        start: line.start,
        at: line.at,
      })
  }
  return { starts, ended }
}
