// Two decoded records side by side, one line for each value in them: `field   log   replay`. Values that differ are marked and shown where they differ;
// those that are the same are shown once and short.

export type ComparedLine = { text: string; isDifferent: boolean }

const none = '—'
const columnMin = 16

/** `other` undefined: only one is shown. `full`: values without a limit, one below the other where they are long. */
export function sideBySide(
  one: object | undefined,
  other: object | undefined,
  { width, full }: { width: number; full: boolean },
): ComparedLine[] {
  const [left, right] = [leavesOf(one), leavesOf(other)]
  const paths = [...new Set([...left.keys(), ...right.keys()])]
  const nameWidth = Math.min(40, Math.max(5, ...paths.map((path) => path.length)))
  const isPair = one !== undefined && other !== undefined
  const valueWidth = Math.max(columnMin, Math.floor((width - nameWidth - 8) / (isPair ? 2 : 1)))
  const lines: ComparedLine[] = isPair
    ? [{ text: `    ${'field'.padEnd(nameWidth)}  ${'log'.padEnd(valueWidth)}  replay`, isDifferent: false }]
    : []
  for (const path of paths) {
    const [a, b] = [left.get(path), right.get(path)]
    const isDifferent = isPair && a !== b
    const name = path.padEnd(nameWidth)
    const [shownA = none, shownB = none] = [a, b]
    if (!isPair) lines.push({ text: `    ${name}  ${full ? (a ?? shownB) : cut(a ?? shownB, valueWidth)}`, isDifferent })
    else if (!isDifferent) lines.push({ text: `    ${name}  ${cut(shownA, valueWidth)}`, isDifferent })
    else if (full && shownA.length + shownB.length > 2 * valueWidth)
      lines.push(
        { text: `  ≠ ${name}  log     ${shownA}`, isDifferent },
        { text: `    ${' '.repeat(nameWidth)}  replay  ${shownB}`, isDifferent },
      )
    else {
      const from = Math.max(0, commonStart(shownA, shownB) - Math.floor(valueWidth / 3))
      const [cutA, cutB] = [shownA, shownB].map((value) => cut(from === 0 ? value : `…${value.slice(from)}`, valueWidth))
      lines.push({ text: `  ≠ ${name}  ${cutA?.padEnd(valueWidth)}  ${cutB}`, isDifferent })
    }
  }
  return lines
}

/** Each value by its path, `results[0].status`, as JSON. */
function leavesOf(value: unknown, path = '', leaves: Map<string, string> = new Map()): Map<string, string> {
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isBranch) {
    if (value !== undefined) leaves.set(path, JSON.stringify(value))
    return leaves
  }
  for (const [name, child] of Object.entries(value))
    leavesOf(child, Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, leaves)
  return leaves
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`
}

function commonStart(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  return at
}
