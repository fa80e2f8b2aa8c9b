// The entries of a client.properties and of --command-property, each with its place for error
// messages.

import { parseLines } from 'dot-properties'
import { limits } from '../../../contract/limits.ts'
import { readText } from '../../../settings/text-file.ts'

/** `place`: "client.properties:3", "--command-property". */
export type Entry = { value: string; place: string }

export type Entries = Map<string, Entry>

/**
 * A name with two different values is a mistake: Java uses the last, and a reader of the file
 * expects the first.
 */
export function entriesOfFile(file: string, mistakes: string[]): Entries {
  const entries: Entries = new Map()
  const content = readText(file, limits.settingsFileBytesMax)
  if ('fault' in content) {
    mistakes.push(`${file} ${content.fault}`)
    return entries
  }
  const { text } = content
  for (const node of parseLines(text, true)) {
    if (!isPair(node)) continue
    const place = `${file}:${text.slice(0, node.range[0]).split('\n').length}`
    const before = entries.get(node.key)
    if (before !== undefined && before.value !== node.value)
      mistakes.push(
        `${place} ${shownName(node.key)} has another value at ${before.place}; keep one of them`,
      )
    entries.set(node.key, { value: node.value, place })
  }
  return entries
}

function isPair(node: {
  type: string
}): node is { type: 'PAIR'; key: string; value: string; range: [number, number, number, number] } {
  return node.type === 'PAIR'
}

export function entriesOfCommand(properties: Readonly<Record<string, string>>): Entries {
  return new Map(
    Object.entries(properties).map(([name, value]) => [
      name,
      { value, place: '--command-property' },
    ]),
  )
}

/**
 * Hides a text that cannot be a name. After a line without its backslash, the next line is parsed
 * as a name, and may be part of a private key.
 */
export function shownName(name: string): string {
  return /^[a-z][a-z0-9._-]{0,99}$/.test(name) ? name : '(not a property name)'
}
