// Reads the arguments of a call where its dialect expects a JSON object. Some servers write nothing,
// null, or the object's text instead.

import {
  decodedOnce,
  meansNoArguments,
} from '../../../../shared/contract/arguments/no-arguments.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { jsonFault } from '../../../../shared/lib/json/json-fault.ts'
import type { WrittenArguments } from '../dialect.ts'
import { type Cursor, isOver } from '../readers/cursor.ts'
import { type Repair, readJson } from '../readers/written-json.ts'

/** One object, without marks around it, where tags are usual. */
export const bareJson = { open: /(?=\{)/y, close: '' }

const nothing: WrittenArguments = { kind: 'none', isOnlyNamed: false }
const marks = ['<', '```', '[TOOL_CALLS]']

/**
 * The arguments at the cursor, moving after them. A mark or the end of the text in their place is
 * no arguments. Undefined: something else is there.
 */
export function jsonHere(cursor: Cursor, repairs: Set<Repair>): WrittenArguments | undefined {
  if (isOver(cursor) || marks.some((mark) => cursor.text.startsWith(mark, cursor.at)))
    return nothing
  const json = readJson(cursor, repairs)
  return json === undefined ? undefined : argumentsIn(json, repairs)
}

/**
 * The arguments that a JSON value stands for: an object, a spelling of none, or the text of an
 * object. The Chat Completions API writes that text, and some models encode it once more.
 */
export function argumentsIn(json: string, repairs: Set<Repair>): WrittenArguments | undefined {
  if (json.startsWith('{')) return jsonArguments(json)
  if (meansNoArguments(json)) return nothing
  const text = stringOf(json)?.trim()
  if (text === undefined) return undefined
  if (meansNoArguments(text)) return nothing
  if (text.startsWith('{')) return objectIn(text, repairs)
  if (!text.endsWith('"') || jsonFault(text, 0) !== undefined) return undefined
  const inner = decodedOnce(text, limits.argumentDepthMax)?.trim()
  if (!inner?.startsWith('{')) return undefined
  repairs.add('encoded-twice')
  return jsonArguments(inner)
}

/** The whole text is one object. */
function objectIn(text: string, repairs: Set<Repair>): WrittenArguments | undefined {
  const cursor = { text, at: 0 }
  const json = readJson(cursor, repairs)
  return isOver(cursor) ? jsonArguments(json) : undefined
}

export function jsonArguments(json: string | undefined): WrittenArguments | undefined {
  return json === undefined ? undefined : { kind: 'json', json }
}

/** The contents of a string. Undefined: `json` is no string. */
export function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? String(JSON.parse(json)) : undefined
}
