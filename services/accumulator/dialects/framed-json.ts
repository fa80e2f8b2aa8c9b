// JSON between marks that are used only for calls. The contents are read as the shapes of plain
// JSON, or as a shape that only this frame has.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Dialect, Reading } from './dialect.ts'
import { separator } from './json.ts'
import { objectShape, readingOf, type ShapeOf } from './json-shapes.ts'
import { type Repair, readJson } from './written-json.ts'

/**
 * `close` empty: the frame ends with its JSON. `isOptional`: the closing mark may be missing, as
 * JSON has an end. `first`: the first character of the JSON, required if `open` is a word that
 * texts may begin with. `shape`: by default the shapes of plain JSON.
 */
export type JsonFrame = {
  open: string
  close: string
  isOptional?: true
  first?: string
  shape?: ShapeOf
}

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
    if (!skipMark(cursor, frame.close) && !frame.isOptional)
      return broken(`'${frame.close}' is missing after the JSON`)
    values.push(...inside)
    skipBlanks(cursor)
  } while (!isOver(cursor))
  const shape = frame.shape ?? objectShape
  return (
    readingOf(values, { repairs, marked: true, shape }) ??
    broken(`what stands after '${frame.open}' is no call`)
  )
}

const comma = /\s{0,64},(?=\s{0,64}\{)/y

/** Reads at least one value. Before a closing mark there may be several objects. */
function valuesIn(
  cursor: Cursor,
  { close }: JsonFrame,
  repairs: Set<Repair>,
): string[] | undefined {
  const values: string[] = []
  let continues = true
  while (continues) {
    skipBlanks(cursor)
    const value = readJson(cursor, repairs)
    if (value === undefined) return undefined
    values.push(value)
    const isList = close !== '' && skipMatch(cursor, comma) !== undefined
    continues = isList || skipMatch(cursor, separator) !== undefined
    skipBlanks(cursor)
    continues ||= close !== '' && cursor.text[cursor.at] === '{'
  }
  return values
}
