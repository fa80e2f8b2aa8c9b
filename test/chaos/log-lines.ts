// The error output of the processes, by kind: log lines at error and above, and all output without
// the log's format (a stack, a warning of Node).

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `example`: the first line of its kind, with its file. */
export type LineKind = { level: string; text: string; count: number; example: string }

const levels: Record<number, string> = { 50: 'error', 60: 'fatal' }

/** Most frequent first. */
export function troubleIn(folder: string): LineKind[] {
  const kinds = new Map<string, LineKind>()
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const trouble = troubleOf(line)
      if (trouble === undefined) continue
      const key = `${trouble.level} ${trouble.text}`
      const kind = kinds.get(key) ?? {
        ...trouble,
        count: 0,
        example: `${file}: ${line.slice(0, 600)}`,
      }
      kinds.set(key, { ...kind, count: kind.count + 1 })
    }
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count)
}

function troubleOf(line: string): Pick<LineKind, 'level' | 'text'> | undefined {
  if (line.trim() === '') return undefined
  try {
    const { level, msg, err } = JSON.parse(line) as {
      level: number
      msg?: string
      err?: { code?: string; type?: string }
    }
    const name = levels[level]
    return name === undefined
      ? undefined
      : { level: name, text: withoutNumbers(`${msg ?? ''} ${err?.code ?? err?.type ?? ''}`.trim()) }
  } catch {
    return { level: 'no log line', text: withoutNumbers(line.trim().slice(0, 120)) }
  }
}

/** Two lines that differ only in an offset or an id are of one kind. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[0-9a-f]{8,}|\d+/g, '…')
}
