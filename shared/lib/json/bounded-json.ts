// Parses JSON of others: a text of a few million brackets blocks a process for seconds, and its value
// needs a hundred times its memory.
// A text that nests too deeply is never parsed. It counts as a text that is not JSON.

import { jsonIn } from './json-object.ts'
import { closingQuote, unit } from './tokens.ts'

const { closeBrace, closeBracket, openBrace, openBracket, quote } = unit

/** The value of a JSON text. Undefined: not JSON, or nested deeper than `depthMax`. */
export function boundedJson(text: string, depthMax: number): unknown {
  return nestsDeeper(text, depthMax) ? undefined : jsonIn(text)
}

/** Linear. The text needs not be JSON: then the answer is that of the text up to its fault. */
export function nestsDeeper(text: string, depthMax: number): boolean {
  if (text.length <= depthMax) return false // most events of a stream
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const found = text.charCodeAt(at)
    if (found === openBracket || found === openBrace) {
      depth += 1
      if (depth > depthMax) return true
    } else if (found === closeBracket || found === closeBrace) depth -= 1
    else if (found === quote) at = closingQuote(text, at + 1)
  }
  return false
}
