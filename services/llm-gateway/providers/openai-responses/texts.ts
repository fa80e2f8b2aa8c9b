// The text of one item of a Responses stream: it comes in pieces, whole in the event that ends a
// part of it, and whole again in the one that ends the item. Owns: what of each is new. Does not
// own: which item it is (openai-responses-stream.ts), what becomes of a text (accumulator).
//
// OPENAI-RESPONSES-TEXTS-1. What was said in pieces is said. A whole text adds what the pieces lack
//     at the end, and nothing else: two that differ are never joined, since either could be a call.
// OPENAI-RESPONSES-TEXTS-2. Where they differ the text is disputed: shown as it came, and nothing
//     in it runs.
// OPENAI-RESPONSES-TEXTS-3. Each event costs no more than its own text, however much was said
//     before it.

/** `pieces`: none empty; `length`: of all of them. `part`: the newest one. */
export type SaidText = {
  pieces: string[]
  length: number
  part: Part | undefined
  isDisputed: boolean
}

/** `key`: by which events name it. It began behind so many `pieces` and characters. */
type Part = { key: string; pieces: number; length: number; isEnded: boolean }

export function newText(): SaidText {
  return { pieces: [], length: 0, part: undefined, isDisputed: false }
}

/** A piece of a part. Gives what is new of it: all. */
export function addPiece(said: SaidText, key: string, text: string): string {
  if (said.part?.key !== key) said.part = beginPart(said, key)
  return add(said, text)
}

/** All of a part. Gives what is new of it. */
export function endPart(said: SaidText, key: string, text: string): string {
  if (hasEnding(said, text)) return ''
  const part = said.part?.key === key ? said.part : beginPart(said, key)
  const rest = part.isEnded ? undefined : restOf(said, part, text)
  said.part = { ...part, isEnded: true }
  if (rest === undefined && differs(said, part, text)) said.isDisputed = true
  return add(said, rest ?? '')
}

/** All of the item; blank: nothing is said of it. Gives what is new of it. */
export function endText(said: SaidText, text: string): string {
  if (text.trim() === '') return ''
  const item = { pieces: 0, length: 0 }
  const rest = restOf(said, item, text)
  if (rest === undefined && differs(said, item, text)) said.isDisputed = true
  return add(said, rest ?? '')
}

function beginPart({ pieces, length }: SaidText, key: string): Part {
  return { key, pieces: pieces.length, length, isEnded: false }
}

function add(said: SaidText, text: string): string {
  if (text !== '') said.pieces.push(text)
  said.length += text.length
  return text
}

/** What `text` says behind what was said since `from`; undefined: it says something else. */
function restOf(
  { pieces, length }: SaidText,
  from: Pick<Part, 'pieces' | 'length'>,
  text: string,
): string | undefined {
  const known = length - from.length
  if (text.length < known) return undefined
  return text.startsWith(pieces.slice(from.pieces).join('')) ? text.slice(known) : undefined
}

/** Whether `text` says something else than was said since `from`, but for blanks around it. */
function differs(
  { pieces, length }: SaidText,
  from: Pick<Part, 'pieces' | 'length'>,
  text: string,
): boolean {
  const isLonger = length - from.length > 2 * text.length + blanksMax // so it is not joined (OPENAI-RESPONSES-TEXTS-3)
  return isLonger || pieces.slice(from.pieces).join('').trim() !== text.trim()
}

const blanksMax = 64

/** Whether all that was said ends with this: said again, of whichever part. */
function hasEnding({ pieces }: SaidText, text: string): boolean {
  let rest = text
  for (let n = pieces.length - 1; n >= 0; n -= 1) {
    const piece = pieces[n] as string
    if (piece.length >= rest.length) return piece.endsWith(rest)
    if (!rest.endsWith(piece)) return false
    rest = rest.slice(0, rest.length - piece.length)
  }
  return rest === ''
}
