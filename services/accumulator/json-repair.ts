// Repairs a text that is almost a JSON object, if it can be read in one way only. It closes nothing
// that ends too early and changes no value: the result is the same object in another spelling.
//
//     fence              ```json {"a":1} ```           the fence is removed
//     trailing-comma     {"a":1,}                      the comma is removed
//     single-quotes      {'a':'b'}                     with double quotes
//     python-word        {"a":True,"b":None}           true, null
//     control-character  a line end inside a string    as its escape
//     escaped-quote      "it\'s"                       the backslash is removed
//
// json-string.ts repairs strings. One pass, linear in the text. The final check of the whole makes
// sure that the result is JSON. Only for arguments that were encoded twice:
//
//     encoded-twice      "{\"a\":1}"                    the object inside the string
//     no-arguments       null                          nothing, which has one meaning

import { decodedOnce, meansNoArguments } from '../../shared/contract/arguments/no-arguments.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { jsonString, type StringMending } from './json-string.ts'
import { pythonWords } from './python-words.ts'

export type Mending =
  | 'fence'
  | 'trailing-comma'
  | 'python-word'
  | 'encoded-twice'
  | 'no-arguments'
  | StringMending

/** Undefined if the text cannot become one object at most `depthMax` deep, or needs no repair. */
export function repairedObject(
  text: string,
  depthMax: number,
): { text: string; how: Mending[] } | undefined {
  const how = new Set<Mending>()
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
export function meantObject(
  json: string,
  depthMax: number,
): { text: string; how: Mending[] } | undefined {
  if (meansNoArguments(json)) return { text: '', how: ['no-arguments'] }
  const inner = decodedOnce(json, depthMax)
  return inner?.trimStart().startsWith('{') ? { text: inner, how: ['encoded-twice'] } : undefined
}

function withoutFence(text: string, how: Set<Mending>): string {
  const trimmed = text.trim()
  const opening = /^```(?:json)?[ \t]*(?=[\r\n{])/i.exec(trimmed)?.[0]
  if (opening === undefined || !trimmed.endsWith('```') || trimmed.length < opening.length + 3)
    return text
  how.add('fence')
  return trimmed.slice(opening.length, -3)
}

/**
 * The same tokens in JSON's spelling. Undefined if a string has no end or more than one reading.
 */
function respelled(text: string, how: Set<Mending>): string | undefined {
  const pieces: string[] = []
  let isJsonOnly = false
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
      isJsonOnly ||= string.isJsonOnly
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
  // A text with signs of Python, and a string that Python reads differently (JSON-STRING-2).
  if (isJsonOnly && (how.has('python-word') || how.has('single-quotes'))) return undefined
  return [...pieces, text.slice(copied)].join('')
}

/** The comma follows a value and precedes a closing bracket. A comma alone makes no empty list. */
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
