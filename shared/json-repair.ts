// Mends a text that is nearly the text of a JSON object, where it can be read in one way only. Nothing that ends too early is closed, and no value is
// changed: the object is the one that was written down, in another spelling.
//
//   fence              ```json {"a":1} ```           the fence is taken off
//   trailing-comma     {"a":1,}                      the comma is taken out
//   single-quotes      {'a':'b'}                     with double quotes
//   python-word        {"a":True,"b":None}           true, null
//   control-character  a line end inside a string    as its escape
//   bad-escape         "C:\dir"                      the backslash is doubled
//
// A string in which one backslash begins no escape may have meant none of them as one: in "C:\dir\new" the \n is a folder. So such a string is
// mended only where no other escape in it could be meant both ways.
//
// One pass, linear in the text; the check of the whole at the end is what makes it JSON.

import { jsonFault } from './json-fault.ts'

export type Mending = 'fence' | 'trailing-comma' | 'single-quotes' | 'python-word' | 'control-character' | 'bad-escape'

/** Undefined: it cannot be mended so that it is the text of one object, nested at most `depthMax` deep; or nothing of it was mended. */
export function repairedObject(text: string, depthMax: number): { text: string; how: Mending[] } | undefined {
  const how = new Set<Mending>()
  const mended = respelled(withoutFence(text, how), how)
  if (mended === undefined || how.size === 0 || !mended.trimStart().startsWith('{') || jsonFault(mended, depthMax) !== undefined)
    return undefined
  return { text: mended, how: [...how] }
}

function withoutFence(text: string, how: Set<Mending>): string {
  const trimmed = text.trim()
  const opening = /^```(?:json)?[ \t]*(?=[\r\n{])/i.exec(trimmed)?.[0]
  if (opening === undefined || !trimmed.endsWith('```') || trimmed.length < opening.length + 3) return text
  how.add('fence')
  return trimmed.slice(opening.length, -3)
}

const pythonWords = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/** The same tokens as JSON spells them; undefined where a string has no end or more than one reading. */
function respelled(text: string, how: Set<Mending>): string | undefined {
  const pieces: string[] = []
  const token = /["',]|[A-Za-z_]\w*/g
  let copied = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found] = match
    let spelling: string | undefined
    let end = match.index + found.length
    if (found === '"' || found === "'") {
      const string = readString(text, match.index, how)
      if (string === undefined) return undefined
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

/** The string that opens at `from`, and where it is over. `spelling` undefined: as it is. */
function readString(text: string, from: number, how: Set<Mending>): { spelling: string | undefined; end: number } | undefined {
  const quote = text[from] as string
  const pieces: string[] = []
  let copied = from + 1
  let isBad = false
  let isAmbiguous = false
  let at = from + 1
  const replace = (length: number, spelling: string): void => {
    pieces.push(text.slice(copied, at), spelling)
    copied = at + length
  }
  for (; at < text.length && text[at] !== quote; at += 1) {
    const found = text.charCodeAt(at)
    if (found < 0x20) {
      replace(1, JSON.stringify(text[at]).slice(1, -1))
      how.add('control-character')
    } else if (found === 0x22)
      replace(1, '\\"') // only inside single quotes
    else if (found === 0x5c) {
      const next = text[at + 1] ?? ''
      if (quote === "'" && next === "'") replace(2, "'")
      else if (next === 'u' ? /^[0-9a-f]{4}/i.test(text.slice(at + 2, at + 6)) : next !== '' && 'bfnrt'.includes(next)) isAmbiguous = true
      else if (!'"\\/'.includes(next)) {
        replace(1, '\\\\')
        isBad = true
        at -= 1 // what follows stands for itself
      }
      at += 1
    }
  }
  if (at >= text.length || (isBad && isAmbiguous)) return undefined
  if (isBad) how.add('bad-escape')
  if (quote === "'") how.add('single-quotes')
  if (quote === '"' && pieces.length === 0) return { spelling: undefined, end: at + 1 }
  return { spelling: `"${pieces.join('')}${text.slice(copied, at)}"`, end: at + 1 }
}
