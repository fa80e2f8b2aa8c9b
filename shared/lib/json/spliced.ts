// Changes single values of a JSON text and leaves the bytes of all others: signatures, the order of
// members, the form of numbers, and parameters that Weir does not know. `text` must be JSON.

import { insideOf, type Span } from './spans.ts'
import { spaceEnd } from './tokens.ts'

/** Replaces the text of a span. An empty span inserts. */
export type Splice = Span & { text: string }

/** The splices must not overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { from, to, text: inserted } of splices.toSorted((a, b) => a.from - b.from)) {
    pieces.push(text.slice(at, from), inserted)
    at = to
  }
  return pieces.join('') + text.slice(at)
}

/** The place of the value at a path. Undefined: there is none. */
export function spanAt(text: string, path: readonly (string | number)[]): Span | undefined {
  let span: Span | undefined = { from: spaceEnd(text, 0), to: text.trimEnd().length }
  for (const step of path) span = span && insideOf(text, span.from).get(step)
  return span
}

/** Adds an item, as JSON, to the end of the list at `span`. */
export function withItem(text: string, span: Span, item: string): Splice {
  const last = [...insideOf(text, span.from).values()].at(-1)
  const at = last?.to ?? span.from + 1
  return { from: at, to: at, text: last === undefined ? item : `,${item}` }
}

/** Gives a member of the object at `span` a value, as JSON. Replaces it if it is there. */
export function withMember(text: string, span: Span, name: string, value: string): Splice {
  const members = insideOf(text, span.from)
  const known = members.get(name)
  if (known !== undefined) return { ...known, text: value }
  const at = [...members.values()].reduce((end, { to }) => Math.max(end, to), span.from + 1)
  const member = `${JSON.stringify(name)}:${value}`
  return { from: at, to: at, text: members.size === 0 ? member : `,${member}` }
}
