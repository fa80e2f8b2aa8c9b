// Equal rows in the results of a turn's tools. An answer may repeat a row as often as the tools did.
// The search looks at a few places, so a short stretch in a long result may be missed.
//
// Only repeated rows are kept, few and short, so the memory does not grow with the
// results.
// Rows are compared by letters and digits. An answer may write them otherwise than
// the tool, for example without JSON's quotes.

import { isRotation } from '../../../shared/lib/rotation.ts'

/** `row`: its letters and digits, beginning anywhere in it. `times`: in a row, over all results. */
export type ReturnedRow = { row: string; times: number }

const rowsMax = 16
const rowCharsMax = 1_500
/** Fewer equal rows are no chant. */
const timesMin = 5
/** Shorter results hold no chant. */
const charsMin = 80
/** The distance of the places at which the search begins. */
const stepMin = 64
const stepMax = 512
const probesMin = 8
const probeChars = 16

/** Adds the repeated rows of a result. The oldest ones yield. */
export function withRowsOf(known: ReturnedRow[], result: string): ReturnedRow[] {
  const found = rowsOf(result)
  if (found.length === 0) return known
  const rows = known.map((row) => ({ ...row }))
  for (const { row, times } of found) {
    const same = rows.find((other) => isRotation(other.row, row))
    if (same === undefined) rows.push({ row, times })
    else same.times += times
  }
  return rows.slice(-rowsMax)
}

/** Whether the tools returned this unit as often as the answer repeats it. */
export function areReturned(
  known: ReturnedRow[],
  { unit, times }: { unit: string; times: number },
): boolean {
  const row = plain(unit)
  return known.some((other) => times <= other.times && isRotation(other.row, row))
}

function rowsOf(text: string): ReturnedRow[] {
  const rows: ReturnedRow[] = []
  if (text.length < charsMin) return rows
  const step = Math.min(Math.max(text.length / probesMin, stepMin), stepMax) | 0
  for (let at = 0; at + timesMin < text.length && rows.length < rowsMax; ) {
    const period = nextCopy(text, at)
    let end = at + (period ?? 0)
    if (period !== undefined)
      while (end < text.length && text.charCodeAt(end) === text.charCodeAt(end - period)) end += 1
    if (period === undefined || end - at < (timesMin - 1) * period) {
      at = Math.max(at + step, end - (period ?? 0))
      continue
    }
    const row = plain(text.slice(at, at + period))
    if (row !== '') rows.push({ row, times: Math.round((end - begin(text, at, period)) / period) })
    at = end
  }
  return rows
}

/** The beginning of the stretch: the search may find its middle. */
function begin(text: string, from: number, period: number): number {
  let at = from
  while (at > 0 && text.charCodeAt(at - 1) === text.charCodeAt(at - 1 + period)) at -= 1
  return at
}

/** The distance to the next copy of the characters at this place; undefined: none is near. */
function nextCopy(text: string, at: number): number | undefined {
  const probe = text.slice(at, at + probeChars)
  const found = text.slice(at + 1, at + 1 + rowCharsMax + probeChars).indexOf(probe)
  return found < 0 ? undefined : found + 1
}

function plain(text: string): string {
  return text.replaceAll(/\\[nrt"\\/]/g, ' ').replaceAll(/[^\p{L}\p{N}]+/gu, '')
}
