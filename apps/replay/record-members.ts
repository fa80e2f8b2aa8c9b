// Prints decoded records as lines: the differing members of two, with both values, or all members
// of one. A value is truncated only to the width of a terminal.

/** `path`: `results[0].status`. `log`, `replay`: undefined if that record has no such member. */
export type DifferingMember = { path: string; log: unknown; replay: unknown }

/**
 * Descends while both have members. In the order of the log's, then those that only the replay has.
 */
export function differingMembers(log: unknown, replay: unknown, path = ''): DifferingMember[] {
  if (!isBranch(log) || !isBranch(replay) || Array.isArray(log) !== Array.isArray(replay))
    return JSON.stringify(log) === JSON.stringify(replay) ? [] : [{ path, log, replay }]
  const names = new Set([...Object.keys(log), ...Object.keys(replay)])
  const place = path === '' ? '' : `${path}.`
  return [...names].flatMap((name) =>
    differingMembers(
      log[name],
      replay[name],
      Array.isArray(log) ? `${path}[${name}]` : `${place}${name}`,
    ),
  )
}

/** Three lines: the path and both values. Long values begin shortly before the difference. */
export function differingLines({ path, log, replay }: DifferingMember, width: number): string[] {
  const texts = [log, replay].map(textOf)
  const [a = '', b = ''] = texts
  const room = width - 14
  const common = commonStart(a, b)
  const from = Math.max(a.length, b.length) <= room ? 0 : Math.max(0, common - Math.floor(room / 3))
  const [before, after] = texts.map((text) => cut(from === 0 ? text : `…${text.slice(from)}`, room))
  const where = common < eyeCatches ? '' : `, from character ${common} on`
  return [`  ≠ ${path}${where}`, `      log     ${before}`, `      replay  ${after}`]
}

/** Beyond this number of equal characters, readers miss a difference. */
const eyeCatches = 40

/**
 * The common part of two records: single values, and the names of larger members. Undefined: none.
 */
export function commonText(log: object, replay: object): string | undefined {
  const others = Object.entries(replay)
  const common = Object.entries(log).filter(([name, value]) =>
    others.some(([other, found]) => other === name && differingMembers(value, found).length === 0),
  )
  const single = common.flatMap(([name, value]) =>
    isBranch(value) ? [] : [`${name} ${textOf(value)}`],
  )
  const names = common.flatMap(([name, value]) => (isBranch(value) ? [name] : []))
  const parts = [single.join(', '), names.length === 0 ? '' : `all of ${names.join(', ')}`].filter(
    (part) => part !== '',
  )
  return parts.length === 0 ? undefined : parts.join('; ')
}

/** One line for each member. */
export function memberLines(record: object, width: number): string[] {
  const nameWidth = Math.max(...Object.keys(record).map((name) => name.length))
  return Object.entries(record).map(
    ([name, value]) =>
      `    ${name.padEnd(nameWidth)}  ${cut(textOf(value), width - nameWidth - 6)}`,
  )
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

function textOf(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return at
}
