// The grammar that most dialects share: calls in sequence until the text ends, inside sections or
// without them. A dialect states its marks, and how one call is read.
// FRAME-1. Text beside the calls means that the whole is not calls. An unreadable call, or a
//     section without an end, is a broken frame. Nothing of either runs.

import { type Cursor, isOver, skipBlanks, skipMark, skipMatch } from './cursor.ts'
import type { Reading, WrittenCall } from './dialect.ts'
import type { Repair } from './written-json.ts'

/** A regular expression is sticky and bounded (cursor.ts). */
export type Mark = string | RegExp

export type Frame = {
  /**
   * The marks around the calls. `missingEnd`, `empty`: clauses for the model, by default the
   * frame's.
   */
  section?: { open: Mark; close: Mark; missingEnd?: string; empty?: string }
  /**
   * Calls may stand without a section. `marked`: only calls use their tags. `plain`: other texts
   * use them too.
   */
  bare?: 'marked' | 'plain'
  /** Ends of sections that may follow bare calls, because the beginning is often missing. */
  strayEnd?: Mark
  /** How a call begins. Its first group, if it has one, is the tool's name. */
  begin: Mark
  /** Reads one call and moves behind it. Undefined: it cannot be read. */
  call(cursor: Cursor, repairs: Set<Repair>): WrittenCall | undefined
  /** A clause for the model: the form of a call. */
  why: string
}

/** The reading of the frame that begins here. Undefined: none does, or text follows it. */
export function readFrames(cursor: Cursor, frames: readonly Frame[]): Reading | undefined {
  const frame = frames.find(
    ({ section, bare, begin }) =>
      (section !== undefined && isAt(cursor, section.open)) ||
      (bare !== undefined && isAt(cursor, begin)),
  )
  return frame === undefined ? undefined : readAll(cursor, frame)
}

function readAll(cursor: Cursor, frame: Frame): Reading | undefined {
  const { section, bare, strayEnd, why } = frame
  const repairs = new Set<Repair>()
  const calls: WrittenCall[] = []
  let marked = bare !== 'plain'
  const broken = (reason: string, name?: string): Reading => ({
    kind: 'broken',
    names: [...calls.flatMap(({ names }) => names), ...(name === undefined ? [] : [name])],
    why: reason,
    marked,
  })
  for (; !isOver(cursor); skipBlanks(cursor)) {
    const before = calls.length
    const isInside = section !== undefined && skip(cursor, section.open) !== undefined
    marked ||= isInside
    if (isInside) skipBlanks(cursor)
    for (; isInside || bare !== undefined; skipBlanks(cursor)) {
      const begun = skip({ ...cursor }, frame.begin)
      if (begun === undefined) break
      const call = frame.call(cursor, repairs)
      if (call === undefined) return broken(why, begun[1])
      calls.push(call)
    }
    if (isInside && skip(cursor, section.close) === undefined)
      return broken(section.missingEnd ?? why)
    if (calls.length > before) continue
    if (isInside) return broken(section.empty ?? why)
    const isStray = before > 0 && strayEnd !== undefined && skip(cursor, strayEnd) !== undefined
    if (!isStray || !isOver(cursor)) return undefined // FRAME-1: text follows the calls
  }
  return { kind: 'calls', calls, repairs, marked }
}

function isAt(cursor: Cursor, mark: Mark): boolean {
  return skip({ ...cursor }, mark) !== undefined
}

function skip(cursor: Cursor, mark: Mark): readonly string[] | undefined {
  if (typeof mark !== 'string') return skipMatch(cursor, mark)
  return skipMark(cursor, mark) ? [mark] : undefined
}
