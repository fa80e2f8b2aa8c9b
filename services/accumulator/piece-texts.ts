// Joins the pieces in which a server sent one call's arguments, and its name likewise.
//
// The protocol requires plain joining. Servers break it in visible ways: each piece repeats all
// text so far, the end repeats everything, or a placeholder comes first. The result is always sent
// text, whole. Nothing is closed, cut off or added (I1.1), so an ambiguous text stays joined and is
// refused later.

import { isPlaceholder } from '../../shared/contract/arguments/no-arguments.ts'
import { limits } from '../../shared/contract/limits.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { plainJson } from '../../shared/lib/json/same-json.ts'
import { closingQuote, nextMark, unit } from '../../shared/lib/json/tokens.ts'

const { openBrace, openBracket, quote } = unit

/** `pieces`: in the order of the stream, none empty. */
export function textFrom(pieces: string[]): string {
  const joined = pieces.join('')
  if (pieces.length < 2 || faultOf(joined) === undefined) return joined
  const meant = withoutPlaceholder(pieces)
  return lastSnapshot(meant) ?? repeatedObject(meant) ?? meant.join('')
}

/** `{}` or `null` may precede the real arguments, which then begin with a bracket. */
function withoutPlaceholder(pieces: string[]): string[] {
  const at = pieces.findIndex((piece) => !isPlaceholder(piece))
  return at > 0 && beginsObject(pieces[at] as string) ? pieces.slice(at) : pieces
}

/** Each piece extends the one before it, and the last one is whole. */
function lastSnapshot(pieces: string[]): string | undefined {
  const last = pieces.at(-1) as string
  const grows = pieces.every((piece, n) => n === 0 || piece.startsWith(pieces[n - 1] as string))
  return grows && isObjectText(last) ? last : undefined
}

/**
 * A whole object, then the same object again, each time at the beginning of a piece. A model that
 * repeats itself within one piece does not match.
 */
function repeatedObject(pieces: string[]): string | undefined {
  const joined = pieces.join('')
  const first = firstObject(joined)
  if (first === undefined) return undefined
  const starts = pieceStarts(pieces)
  const plain = plainJson(first)
  // Once: each of many objects may be followed by megabytes of blanks.
  const end = joined.trimEnd().length
  for (let at = first.length; at < end; ) {
    const again = firstObject(joined.slice(at))
    if (again === undefined || !starts.has(at) || plainJson(again) !== plain) return undefined
    at += again.length
  }
  return first
}

/** The whole object at the beginning of a text, with the blanks after it. */
export function firstObject(text: string): string | undefined {
  const first = text.slice(0, faultOf(text)?.at ?? text.length)
  return isObjectText(first) ? first : undefined
}

/** Offsets in the joined text at which a piece's first visible character stands. */
function pieceStarts(pieces: string[]): Set<number> {
  const starts = new Set<number>()
  let start = 0
  for (const piece of pieces) {
    starts.add(start + (piece.length - piece.trimStart().length))
    start += piece.length
  }
  return starts
}

function isObjectText(text: string): boolean {
  return beginsObject(text) && faultOf(text) === undefined
}

export function beginsObject(text: string): boolean {
  return text.trimStart().startsWith('{')
}

function faultOf(text: string): ReturnType<typeof jsonFault> {
  return jsonFault(text, limits.argumentDepthMax)
}

/**
 * `names`: the texts given as a call's name, in order. A server repeats a name, extends it each
 * time, or splits it. If several readings are possible, the offered tools decide.
 */
export function nameFrom(names: string[], offered: ReadonlySet<string>): string {
  const distinct = names.filter((name, n) => name !== names[n - 1])
  const [joined, last] = [distinct.join(''), distinct.at(-1) ?? '']
  const grows = distinct.every((name, n) => n === 0 || name.startsWith(distinct[n - 1] as string))
  const meant = [...(grows ? [last] : []), joined, names.join('')]
  return meant.find((name) => offered.has(name)) ?? (grows ? last : joined)
}

/** Follows the brackets of an argument text, piece by piece. */
export class BracketCount {
  private depth = 0
  private hasBegun = false
  /** Undefined outside a string. Inside one: the characters of the next piece to skip. */
  private skip: number | undefined

  /** The object that the text began is whole. Meaningless for a text that is not JSON. */
  get closed(): boolean {
    return this.hasBegun && this.depth === 0
  }

  add(piece: string): void {
    let at = this.skip === undefined ? nextMark(piece, 0) : this.afterString(piece, this.skip)
    while (at < piece.length) {
      const found = piece.charCodeAt(at)
      if (found === quote) at = this.afterString(piece, at + 1)
      else {
        if (found === openBrace || found === openBracket) {
          this.depth += 1
          this.hasBegun = true
        } else this.depth -= 1
        at = nextMark(piece, at + 1)
      }
    }
  }

  /** The next mark after the string that is open at `from`. */
  private afterString(piece: string, from: number): number {
    const end = closingQuote(piece, from)
    this.skip = end < piece.length ? undefined : end - piece.length
    return end < piece.length ? nextMark(piece, end + 1) : piece.length
  }
}
