// JSON between marks that are used only for calls. The contents are read as the shapes of plain
// JSON.

import { type Cursor, isOver, skipBlanks, skipMark } from './cursor.ts'
import type { Dialect, Reading } from './dialect.ts'
import { readingOf } from './json-shapes.ts'
import { type Repair, readJson } from './written-json.ts'

/**
 * `close` empty: the frame ends with its JSON. `first`: the first character of the JSON, required
 * if `open` is a word that texts may begin with. `between`: an allowed separator between several
 * values of one frame, by default none.
 */
export type JsonFrame = { open: string; close: string; first?: string; between?: string }

/**
 * A dialect of such frames in sequence. The first frame that fits the beginning of the text applies
 * to all of it.
 */
export function framedJson(name: string, frames: JsonFrame[]): Dialect {
  return {
    name,
    read(text) {
      const frame = frames.find(({ open, first = '' }) => text.startsWith(open + first))
      return frame === undefined ? undefined : readFrames({ text, at: 0 }, frame)
    },
  }
}

function readFrames(cursor: Cursor, frame: JsonFrame): Reading | undefined {
  const repairs = new Set<Repair>()
  const values: string[] = []
  const broken = (why: string): Reading => ({ kind: 'broken', names: [], why, marked: true })
  do {
    // text follows the call, so the whole is not calls
    if (!skipMark(cursor, frame.open)) return undefined
    const inside = valuesIn(cursor, frame, repairs)
    if (inside === undefined) return broken(`what stands after '${frame.open}' is not valid JSON`)
    if (!skipMark(cursor, frame.close)) return broken(`'${frame.close}' is missing after the JSON`)
    values.push(...inside)
    skipBlanks(cursor)
  } while (!isOver(cursor))
  return readingOf(values, repairs, true) ?? broken(`what stands after '${frame.open}' is no call`)
}

/** Reads at least one value. */
function valuesIn(
  cursor: Cursor,
  { between }: JsonFrame,
  repairs: Set<Repair>,
): string[] | undefined {
  const values: string[] = []
  do {
    skipBlanks(cursor)
    const value = readJson(cursor, repairs)
    if (value === undefined) return undefined
    values.push(value)
    skipBlanks(cursor)
  } while (between !== undefined && skipMark(cursor, between))
  return values
}
