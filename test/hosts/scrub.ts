// Recorded texts without the traces of one run: ids become numbers in their order, paths of the
// machine one home, long texts of the host their lengths.

/** Characters of the longest text that stays. */
const longText = 200

export type Scrub = (value: unknown) => unknown

export function scrubber(home: string): Scrub {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${`${ids.size + 1}`.padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const text = (one: string) =>
    (one.length > longText && !one.startsWith('{') ? shortened(one) : one)
      .replaceAll(home, '/home/user')
      .replaceAll(home.replaceAll('/', '-'), '-home-user')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
      .replace(/\b[0-9a-f]{32,64}\b/g, '(hash)')
      .replace(/"(turn_started_at_unix_ms)":\d+/g, '"$1":0')
      .replace(/\(Debian[^)]*\)|\(\w+ [\d.]+; x86_64\)/g, '(system)')
      .replace(/Chunk ID: \w+/g, 'Chunk ID: 000000')
      .replace(/Wall time: [\d.]+/g, 'Wall time: 0.0000')
      .replace(/rollout-[\dT-]+-/g, 'rollout-')
      .replace(/sessions\/\d+\/\d+\/\d+/g, 'sessions')
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return text(one)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one)
        // The marks of a cache move from message to message.
        .filter(([key]) => key !== 'cache_control')
        .map(([key, each]) => [
          key,
          key === 'duration_ms' ? 0 : key === 'tools' ? toolsOf(each).map(walk) : walk(each),
        ]),
    )
  }
  return walk
}

/** The tags around a text stay: readers know a host's own texts by them. */
function shortened(text: string): string {
  const tag = /^<([\w-]+)>/.exec(text)?.[1]
  const length = `(${text.length} characters)`
  return tag === undefined ? length : `<${tag}>${length}</${tag}>`
}

/** The called tools only. */
function toolsOf(tools: unknown): unknown[] {
  return (tools as { name?: string }[]).filter(({ name }) =>
    ['Bash', 'Write', 'exec_command', 'write_stdin'].includes(name ?? ''),
  )
}
