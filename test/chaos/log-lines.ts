// What the processes wrote to their error output: lines at error and above, and whatever is no line
// of the log (a stack, a warning of Node's), by kind.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `example`: the first of them, with the file it stands in. */
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

/** Two lines that differ in an offset or an id only are of one kind. */
function withoutNumbers(text: string): string {
  return text.replaceAll(/[0-9a-f]{8,}|\d+/g, '…')
}
