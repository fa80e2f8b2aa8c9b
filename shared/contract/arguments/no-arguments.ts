// "No arguments" in every spelling that servers and models use. They all mean the same.

import { jsonFault } from '../../lib/json/json-fault.ts'

/**
 * Whether an argument text says that there are no arguments: no visible byte, `null`, `""`, and the
 * JSON string `"null"`. `{}` is not among them: it is an object, which the schema judges.
 */
export function meansNoArguments(text: string): boolean {
  return text.length <= charactersMax && spellings.has(text.trim())
}

/** `{}`, or another spelling of no arguments. Servers send either before the real arguments. */
export function isPlaceholder(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text) || meansNoArguments(text)
}

const spellings = new Set(['', 'null', '""', '"null"'])
/** The longest spelling with blanks around it. */
const charactersMax = 64

/**
 * The object or array inside a JSON string: the text was encoded twice. Decoded once and strictly:
 * the result is JSON at most `depthMax` deep, in whole characters. Undefined: it is something else.
 * `json` must be JSON.
 */
export function decodedOnce(json: string, depthMax: number): string | undefined {
  const trimmed = json.trim()
  if (!trimmed.startsWith('"')) return undefined
  const inner = String(JSON.parse(trimmed))
  return /^[ \n\r\t]*[{[]/.test(inner) &&
    inner.isWellFormed() &&
    jsonFault(inner, depthMax) === undefined
    ? inner
    : undefined
}
