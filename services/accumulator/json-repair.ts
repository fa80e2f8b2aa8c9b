// Mends a text that is nearly the text of a JSON object, where it can be read in one way only.
// Nothing that ends too early is closed, and no value is changed: the object is the one that was
// written down, in another spelling.
//
//   fence              ```json {"a":1} ```           the fence is taken off
//   trailing-comma     {"a":1,}                      the comma is taken out
//   single-quotes      {'a':'b'}                     with double quotes
//   python-word        {"a":True,"b":None}           true, null
//   control-character  a line end inside a string    as its escape
//   bad-escape         "C:\dir"                      the backslash is doubled
//
// What of a string is mended, json-string.ts says. One pass, linear in the text; the check of the
// whole at the end is what makes it JSON.

import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { jsonString, type StringMending } from './json-string.ts'

export type Mending = 'fence' | 'trailing-comma' | 'python-word' | StringMending

/**
 * Undefined: it cannot be mended so that it is the text of one object, nested at most `depthMax`
 * deep; or nothing of it was mended.
 */
export function repairedObject(
  text: string,
  depthMax: number,
): { text: string; how: Mending[] } | undefined {
  const how = new Set<Mending>()
  const mended = respelled(withoutFence(text, how), how)
  if (
    mended === undefined ||
    how.size === 0 ||
    !mended.trimStart().startsWith('{') ||
    jsonFault(mended, depthMax) !== undefined
  )
    return undefined
  return { text: mended, how: [...how] }
}

function withoutFence(text: string, how: Set<Mending>): string {
  const trimmed = text.trim()
  const opening = /^```(?:json)?[ \t]*(?=[\r\n{])/i.exec(trimmed)?.[0]
  if (opening === undefined || !trimmed.endsWith('```') || trimmed.length < opening.length + 3)
    return text
  how.add('fence')
  return trimmed.slice(opening.length, -3)
}

const pythonWords = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/**
 * The same tokens as JSON spells them; undefined where a string has no end or more than one
 * reading.
 */
function respelled(text: string, how: Set<Mending>): string | undefined {
  const pieces: string[] = []
  const token = /["',]|[A-Za-z_]\w*/g
  let copied = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    let spelling: string | undefined
    let end = match.index + found.length
    if (found === '"' || found === "'") {
      const string = jsonString(text, match.index)
      if (string === undefined) return undefined
      for (const mending of string.how) how.add(mending)
      ;({ spelling, end } = string)
    } else if (found !== ',') {
      spelling = pythonWords.get(found)
      if (spelling !== undefined) how.add('python-word')
    } else if (isTrailing(text, match.index)) {
      spelling = ''
      how.add('trailing-comma')
    }
    if (spelling !== undefined) {
      pieces.push(text.slice(copied, match.index), spelling)
      copied = end
    }
    token.lastIndex = end
  }
  return [...pieces, text.slice(copied)].join('')
}

/** After something and before a closing bracket: a comma alone is no empty list. */
function isTrailing(text: string, comma: number): boolean {
  let before = comma - 1
  while (isBlank(text[before])) before -= 1
  let after = comma + 1
  while (isBlank(text[after])) after += 1
  return !'{[,'.includes(text[before] ?? ',') && '}]'.includes(text[after] ?? '{')
}

function isBlank(found: string | undefined): boolean {
  return found === ' ' || found === '\n' || found === '\r' || found === '\t'
}
