// Finds all known values in one pass over a text. A regular expression of ten thousand values takes
// 25 ms for a page of text.
// The longest value at a place counts. A shorter one could replace a part of it.
// A truncated value (`…`, or the end of a broken stream) counts from `shortest`
// characters on.
// A shorter value counts only as a whole word. Otherwise a PIN of one digit would
// change every number.
// A value counts in every spelling that folds to the same text (folded-text.ts).

import { foldedText, foldedValue } from './folded-text.ts'

export type KnownValues = {
  /** The first replacement of a value counts. */
  add(value: string, replacement: string): void
  /** The memory of all values, roughly: their characters, and a hundred bytes for each. */
  readonly bytes: number
  /** Only where a value is spelled otherwise. */
  respelledIn(text: string): string
  /** `isCut`: the text is truncated at its end. */
  replacedIn(text: string, isCut: boolean): string
}

type Known = { value: string; replacement: string }

const shortest = 4
const cutMark = '…'
const wordCharacter = /[\p{L}\p{N}]/u

export function gatherKnownValues(): KnownValues {
  const all = new Set<string>()
  let bytes = 0
  const short = new Map<string, string>()
  /** By their first characters, the longest first. */
  const long = new Map<string, Known[]>()
  const folded = new Map<string, Known[]>()
  const allFolded = new Set<string>()

  /** Replaces the spellings that the exact search does not know. `counts`: those that are replaced. */
  function replacedSpellings(text: string, counts = (_: string) => true): string {
    const fold = foldedText(text)
    if (fold === undefined) return text
    let replaced = ''
    let keptFrom = 0
    for (let at = 0; at < fold.text.length; ) {
      const found = folded
        .get(fold.text.slice(at, at + shortest))
        ?.find(({ value }) => fold.text.startsWith(value, at))
      const start = fold.starts[at] as number
      const { length } = found?.value ?? ''
      const end = fold.ends[at + Math.max(1, length) - 1] as number
      if (found === undefined || start < keptFrom || !counts(text.slice(start, end))) {
        at += 1
        continue
      }
      at += length
      replaced += text.slice(keptFrom, start) + found.replacement
      keptFrom = end
    }
    return keptFrom === 0 ? text : replaced + text.slice(keptFrom)
  }

  function foundAt(
    text: string,
    at: number,
    cutAt: number,
  ): { length: number; replacement: string } | undefined {
    const candidates = long.get(text.slice(at, at + shortest)) ?? []
    for (const { value, replacement } of candidates) {
      if (text.startsWith(value, at)) return { length: value.length, replacement }
      const left = cutAt - at
      if (left >= shortest && left < value.length && text.startsWith(value.slice(0, left), at))
        return { length: left, replacement }
    }
    for (let length = Math.min(shortest - 1, text.length - at); length > 0; length -= 1) {
      const replacement = short.get(text.slice(at, at + length))
      if (replacement !== undefined && !isInWord(text, at, at + length))
        return { length, replacement }
    }
    return undefined
  }

  return {
    get bytes() {
      return bytes
    },

    add(value, replacement) {
      if (all.has(value)) return
      all.add(value)
      bytes += value.length + 100
      if (value.length < shortest) {
        short.set(value, replacement)
        return
      }
      addTo(long, { value, replacement })
      const inFold = foldedValue(value)
      if (inFold.length < shortest || allFolded.has(inFold)) return
      allFolded.add(inFold)
      if (inFold !== value) bytes += inFold.length + 100
      addTo(folded, { value: inFold, replacement })
    },

    respelledIn: (text) => replacedSpellings(text, (spelling) => !all.has(spelling)),

    replacedIn(text, isCut) {
      if (all.size === 0) return text
      const end = isCut ? text.length : -1
      let replaced = ''
      let keptFrom = 0
      let mark = text.indexOf(cutMark)
      for (let at = 0; at < text.length; ) {
        if (mark >= 0 && mark < at) mark = text.indexOf(cutMark, at)
        const found = foundAt(text, at, mark < 0 ? end : mark)
        if (found === undefined) {
          at += 1
          continue
        }
        replaced += text.slice(keptFrom, at) + found.replacement
        at += found.length
        keptFrom = at
      }
      return replacedSpellings(keptFrom === 0 ? text : replaced + text.slice(keptFrom))
    },
  }
}

function addTo(values: Map<string, Known[]>, known: Known): void {
  const beginning = known.value.slice(0, shortest)
  const others = values.get(beginning) ?? []
  const place = others.findIndex((other) => other.value.length < known.value.length)
  others.splice(place < 0 ? others.length : place, 0, known)
  values.set(beginning, others)
}

function isInWord(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 2), from)
  return (
    wordCharacter.test([...before].at(-1) ?? '') ||
    wordCharacter.test(String.fromCodePoint(text.codePointAt(to) ?? 0x20))
  )
}
