// Repairs a text that is almost a JSON object, if it can be read in one way only. It closes nothing
// that ends too early and changes no value: the result is the same object in another spelling.
// The repairs are those of written-json.ts, and a fence around the object is removed.

import { decodedOnce, meansNoArguments } from '../../shared/contract/arguments/no-arguments.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { isOver, skipBlanks } from './dialects/readers/cursor.ts'
import { type Repair, readJson } from './dialects/readers/written-json.ts'

export type Repaired = { text: string; how: Repair[] }

/** Undefined if the text cannot become one object at most `depthMax` deep, or needs no repair. */
export function repairedObject(text: string, depthMax: number): Repaired | undefined {
  const how = new Set<Repair>()
  const repaired = respelled(withoutFence(text, how), how)
  if (
    repaired === undefined ||
    how.size === 0 ||
    !repaired.trimStart().startsWith('{') ||
    jsonFault(repaired, depthMax) !== undefined
  )
    return undefined
  return { text: repaired, how: [...how] }
}

/**
 * Arguments that are JSON but no object, as they were meant: nothing in another spelling, or an
 * object that was encoded twice. The text is empty for nothing. Undefined: neither.
 */
export function meantObject(json: string, depthMax: number): Repaired | undefined {
  if (meansNoArguments(json)) return { text: '', how: ['no-arguments'] }
  const inner = decodedOnce(json, depthMax)
  return inner?.trimStart().startsWith('{') ? { text: inner, how: ['encoded-twice'] } : undefined
}

function withoutFence(text: string, how: Set<Repair>): string {
  const trimmed = text.trim()
  const opening = /^```(?:json)?[ \t]*(?=[\r\n{])/i.exec(trimmed)?.[0]
  if (opening === undefined || !trimmed.endsWith('```') || trimmed.length < opening.length + 3)
    return text
  how.add('fence')
  return trimmed.slice(opening.length, -3)
}

/** The same value in JSON's spelling, with all blanks. Undefined if it has not one reading. */
function respelled(text: string, how: Set<Repair>): string | undefined {
  const cursor = { text, at: 0 }
  skipBlanks(cursor)
  const before = text.slice(0, cursor.at)
  const json = readJson(cursor, how)
  const after = text.slice(cursor.at)
  skipBlanks(cursor)
  return json === undefined || !isOver(cursor) ? undefined : before + json + after
}
