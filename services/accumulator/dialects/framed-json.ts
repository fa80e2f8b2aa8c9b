// JSON between marks that nothing but a call is written in: what is inside is read as the shapes of
// plain JSON.

import { type Cursor, isOver, skipBlanks, took } from './cursor.ts'
import type { Dialect, Reading } from './dialect.ts'
import { readingOf } from './json-shapes.ts'
import { type Repair, readJson } from './written-json.ts'

/**
 * `close` empty: the JSON is the end. `first`: how the JSON must begin, where `open` is a word that
 * texts begin with. `between`: what may stand between several values of one frame; default:
 * nothing.
 */
export type JsonFrame = { open: string; close: string; first?: string; between?: string }

/**
 * A dialect of such frames, one after another. The first that fits the beginning of the text holds
 * for all of it.
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
    if (!took(cursor, frame.open)) return undefined // what follows the call is no call, so the text is not all calls
    const inside = valuesIn(cursor, frame, repairs)
    if (inside === undefined) return broken(`what stands after '${frame.open}' is not valid JSON`)
    if (!took(cursor, frame.close)) return broken(`'${frame.close}' is missing after the JSON`)
    values.push(...inside)
    skipBlanks(cursor)
  } while (!isOver(cursor))
  return readingOf(values, repairs, true) ?? broken(`what stands after '${frame.open}' is no call`)
}

/** At least one. */
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
  } while (between !== undefined && took(cursor, between))
  return values
}
