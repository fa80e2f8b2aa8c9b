// Recorded texts without the traces of one run: ids become numbers in their order, paths of the
// machine one home, long texts of the host their lengths and a sum.

import { createHash } from 'node:crypto'
import { hostProfiles } from '../../shared/hosts/profiles.ts'

/** Characters of the longest text that stays. */
const longText = 300

export type Scrub = (value: unknown) => unknown

/** `called`: the tools whose declarations stay. Undefined: all. */
export function scrubber(home: string, called?: ReadonlySet<string>): Scrub {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${`${ids.size + 1}`.padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const text = (one: string) =>
    one
      .replaceAll(home, '/home/user')
      .replaceAll(home.replaceAll('/', '-'), '-home-user')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
      .replace(/\b[0-9a-f]{32,64}\b/g, '(hash)')
      .replace(/"(turn_started_at_unix_ms)":\d+/g, '"$1":0')
      .replace(/\(Debian[^)]*\)|\(\w+ [\d.]+; x86_64\)/g, '(system)')
      .replace(/(tasks\/|with ID: |task-id>|backgroundTaskId":\s?")b[0-9a-z]{8}\b/g, '$1b00000000')
      .replace(/\b(Process Group PGID): (?:\d+|\(none\))/g, '$1: 0')
      .replace(/\b(duration_ms): \d+/g, '$1: 0')
      .replace(/Chunk ID: \w+/g, 'Chunk ID: 000000')
      .replace(/Wall time: [\d.]+/g, 'Wall time: 0.0000')
      .replace(/rollout-[\dT-]+-/g, 'rollout-')
      .replace(/sessions\/\d+\/\d+\/\d+/g, 'sessions')
  const shortText = (one: string) => {
    const scrubbed = text(one)
    return scrubbed.length > longText && !one.startsWith('{') ? shortened(scrubbed) : scrubbed
  }
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return shortText(one)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one)
        // The marks of a cache move from message to message.
        .filter(([key]) => key !== 'cache_control')
        .map(([key, each]) => [
          key,
          key === 'duration_ms' ? 0 : walk(key === 'tools' ? toolsOf(each, called) : each),
        ]),
    )
  }
  return walk
}

/**
 * The tags around a text stay: readers know a host's own texts by them. So does the line with the
 * host's folder, which its calls lose.
 */
function shortened(text: string): string {
  const tag = /^<([\w-]+)>/.exec(text)?.[1]
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 6)
  const folders = text.split('\n').filter((line) => folderLines.some((one) => one.test(line)))
  const kept = [`(${text.length} characters, ${sum})`, ...folders].join('\n')
  return tag === undefined ? kept : `<${tag}>${kept}</${tag}>`
}

const folderLines = hostProfiles.flatMap(({ rewriting }) => rewriting?.folder?.named ?? [])

type Tool = { name?: string; function?: { name?: string }; tools?: unknown }

/** A namespace of tools stays with its called ones. */
function toolsOf(tools: unknown, called: ReadonlySet<string> | undefined): unknown {
  if (!Array.isArray(tools) || called === undefined) return tools
  return tools.filter((tool: Tool) =>
    Array.isArray(tool.tools)
      ? tool.tools.some(({ name }: Tool) => called.has(name ?? ''))
      : called.has(tool.name ?? tool.function?.name ?? ''),
  )
}
