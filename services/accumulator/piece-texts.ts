// The argument text of one call from the pieces in which a server sent it, and its name likewise.
// The protocol says that pieces are to be joined. Servers break it in ways that show: they send all
// so far with every piece, everything once more at the end, or a placeholder first. Whatever of it
// is taken is text that was sent, whole; nothing is closed, cut off or put in (I1.1), so what
// cannot be told apart stays joined and is refused as what it is.

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

/** `{}` may stand before the real arguments, which then begin with a bracket of their own. */
function withoutPlaceholder(pieces: string[]): string[] {
  const at = pieces.findIndex((piece) => !['{}', ''].includes(piece.trim()))
  return at > 0 && beginsObject(pieces[at] as string) ? pieces.slice(at) : pieces
}

/** Every piece goes on from all that was sent before, and the last one is whole. */
function lastSnapshot(pieces: string[]): string | undefined {
  const last = pieces.at(-1) as string
  const grows = pieces.every((piece, n) => n === 0 || piece.startsWith(pieces[n - 1] as string))
  return grows && isObjectText(last) ? last : undefined
}

/**
 * A whole object, and then the same object again, each time beginning with a piece of its own: a
 * model that says it twice in one breath does not.
 */
function repeatedObject(pieces: string[]): string | undefined {
  const joined = pieces.join('')
  const first = firstObject(joined)
  if (first === undefined) return undefined
  const starts = pieceStarts(pieces)
  const said = plainJson(first)
  const end = joined.trimEnd().length // once: what follows each of many objects may be megabytes of blanks
  for (let at = first.length; at < end; ) {
    const again = firstObject(joined.slice(at))
    if (again === undefined || !starts.has(at) || plainJson(again) !== said) return undefined
    at += again.length
  }
  return first
}

/** The whole object that a text begins with, and the blanks after it. */
export function firstObject(text: string): string | undefined {
  const first = text.slice(0, faultOf(text)?.at ?? text.length)
  return isObjectText(first) ? first : undefined
}

/** Where the first visible characters of the pieces stand in the joined text. */
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
 * `names`: the texts that stood where a call's name stands, in order. A server repeats a name,
 * sends more of it each time, or splits it; the tools offered tell which, where several could be
 * meant.
 */
export function nameFrom(names: string[], offered: ReadonlySet<string>): string {
  const told = names.filter((name, n) => name !== names[n - 1])
  const [joined, last] = [told.join(''), told.at(-1) ?? '']
  const grows = told.every((name, n) => n === 0 || name.startsWith(told[n - 1] as string))
  const meant = [...(grows ? [last] : []), joined, names.join('')]
  return meant.find((name) => offered.has(name)) ?? (grows ? last : joined)
}

/** Where the brackets of an argument text stand, after each piece of it. */
export class BracketCount {
  private depth = 0
  private hasBegun = false
  /** Undefined outside a string. Inside one: the characters of the next piece to skip. */
  private skip: number | undefined

  /** The object that the text began is whole. Says nothing about a text that is no JSON. */
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

  /** The next mark behind the string that is open at `from`. */
  private afterString(piece: string, from: number): number {
    const end = closingQuote(piece, from)
    this.skip = end < piece.length ? undefined : end - piece.length
    return end < piece.length ? nextMark(piece, end + 1) : piece.length
  }
}
