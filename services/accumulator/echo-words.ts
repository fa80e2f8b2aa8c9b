// The echo check's rule in doubt: a text holds a call if it has the call's words near each other
// and in the call's order. So no gutter, frame, box or markup around a copy hides it.
//
// The name stands after "call", "name" or the like, or before a bracket, and each
// argument's name before a mark. Data has neither: `{"path": "a", "mode": "read"}`.
// Every argument counts. Its value follows its name with few other words between.
// All of them stand near the tool's name. Words far apart in a long text are no call.
// A call without arguments needs its name and empty arguments under their usual keys.
// Its name alone may stand in any text.

import { isObject } from '../../shared/lib/json/json-object.ts'
import { argumentKeys, nameKeys } from './dialects/unrunnable.ts'
import { readable } from './spelling.ts'

/** The work that is left, in characters or words. Below zero, nobody may search on. */
export type Work = { left: number }

/** `members`: the words of each value after those of its name. `reach`: in words. */
export type CallWords = {
  name: string[]
  members: { name: string[]; value: string[] }[]
  reach: number
  /** Of a call without arguments. */
  empty: RegExp | undefined
}

/** Words of a gutter between two words: a path, a line number, a time, a container. */
const betweenMax = 12
/** As in `"name": "functions.rm"`. */
const titleMax = 2

/** `args`: an object, nested at most `limits.argumentDepthMax` deep. */
export function callWords(name: string, args: Record<string, unknown>): CallWords {
  const members = membersIn(args).filter((member) => member.name.length > 0)
  const count = members.reduce((sum, { name: own, value }) => sum + own.length + value.length, 0)
  const isEmpty = Object.keys(args).length === 0
  return {
    name: wordsIn(name),
    members,
    reach: 64 + 8 * count,
    empty: isEmpty ? emptyCall(name) : undefined,
  }
}

function emptyCall(name: string): RegExp {
  const own = name.replaceAll(/[^\p{L}\p{N}_]/gu, '\\$&')
  const names = `(?:${nameKeys.join('|')})\\W{1,12}${own}\\b`
  return new RegExp(`${names}.{0,160}?\\b(?:${argumentKeys.join('|')})\\W{1,8}\\{\\s{0,80}\\}`, 's')
}

/** One entry for each value in objects. The values of a list belong together. */
function membersIn(value: Record<string, unknown>): CallWords['members'] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const nested = [inner].flat().filter(isObject)
    const own = { name: wordsIn(key), value: scalarWords(inner) }
    return [...(isObject(inner) ? [] : [own]), ...nested.flatMap(membersIn)]
  })
}

/** Dialects spell `true` and `null` differently. */
function scalarWords(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return wordsIn(String(value))
  return Array.isArray(value) ? value.flatMap(scalarWords) : []
}

const word = /[\p{L}\p{N}]+/gu

function wordsIn(text: string): string[] {
  return readable(text).match(word) ?? []
}

/** Whether the text holds one of the calls, or there is no work left to know it. */
export function holdsWords(text: string, calls: CallWords[], work: Work): boolean {
  const spelled = readable(text)
  work.left -= text.length
  const sought = new Set(
    calls.flatMap(({ name, members }) => [
      ...name,
      ...members.flatMap((member) => [...member.name, ...member.value]),
    ]),
  )
  const found = wordsOf(spelled, sought)
  return calls.some(
    (call) => isNear(call, found, work) || call.empty?.test(spelled) === true || work.left < 0,
  )
}

/**
 * `at`: the places of each sought word. `isValue`, `isOpened`: of each word, whether a mark of a
 * value or a bracket of arguments precedes it. `calls`, `titles`: the places of words of calls.
 */
type Found = {
  at: Map<string, number[]>
  isValue: boolean[]
  isOpened: boolean[]
  calls: number[]
  titles: number[]
}

const valueMark = /^[^(),;]*[:=<>|│]/
const openingBracket = /^[^(),;{]{0,8}[({]/
/** Frames of calls, perhaps on the line before. Words directly before a tool's name. */
const callWord = /^(?:tool)?calls?$/i
const titleWord = /^(?:name|toolname|functionname|tool|functions?|action|invoke|recipient)$/i

function wordsOf(text: string, sought: Set<string>): Found {
  const at = new Map<string, number[]>([...sought].map((one) => [one, []]))
  const found: Found = { at, isValue: [], isOpened: [], calls: [], titles: [] }
  const between = (blanks: string): void => {
    found.isValue.push(valueMark.test(blanks))
    found.isOpened.push(openingBracket.test(blanks))
  }
  let end = 0
  for (const { 0: one, index } of text.matchAll(word)) {
    const place = found.isValue.length
    at.get(one)?.push(place)
    if (callWord.test(one)) found.calls.push(place)
    if (titleWord.test(one)) found.titles.push(place)
    between(text.slice(end, index))
    end = index + one.length
  }
  between(text.slice(end))
  return found
}

function isNear({ name, members, reach }: CallWords, found: Found, work: Work): boolean {
  if (members.length === 0) return false
  const names = rowsOf(name, found, work).filter((last) => {
    const first = last - name.length + 1
    return (
      found.isOpened[last + 1] ||
      hasBetween(found.titles, first - titleMax, first - 1) ||
      hasBetween(found.calls, first - betweenMax, first - 1)
    )
  })
  if (names.length === 0) return false
  const values = members.map((member) => {
    const keys = rowsOf(member.name, found, work).filter((last) => found.isValue[last + 1])
    return followed(keys, member.value, { found, between: betweenMax, work })
  })
  work.left -= names.length * values.length
  if (work.left < 0) return true
  return names.some((place) =>
    values.every((ends) => hasBetween(ends, place - reach, place + reach)),
  )
}

/** The last places of all rows of these words. */
function rowsOf([first = '', ...others]: string[], found: Found, work: Work): number[] {
  return followed(found.at.get(first) ?? [], others, { found, between: 0, work })
}

/** The last places of the words that follow the starts in their order. All are ascending. */
function followed(
  starts: number[],
  words: string[],
  { found, between, work }: { found: Found; between: number; work: Work },
): number[] {
  let ends = starts
  for (const one of words) {
    const places = found.at.get(one) ?? []
    work.left -= ends.length + places.length
    if (ends.length === 0 || work.left < 0) return []
    const before = ends
    let n = 0
    ends = places.filter((place) => {
      while ((before[n] ?? place) < place - between - 1) n += 1
      return (before[n] ?? place) < place
    })
  }
  return ends
}

function hasBetween(ascending: number[], from: number, to: number): boolean {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? to) < from) low = middle + 1
    else high = middle
  }
  return (ascending[low] ?? to + 1) <= to
}
