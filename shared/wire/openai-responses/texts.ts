// The text of one item of a Responses stream. It comes in pieces, whole at the end of each part,
// and whole again at the end of the item. Owns: the new characters of each event. Does not own: the
// item (stream.ts), the use of the text (accumulator).
//
// Emitted pieces stay. A whole text only adds missing characters at the
// end. Texts that differ are never joined, since either could be a call.
// A text with two versions is disputed: it is shown, and no call in it
// runs.
// The cost of an event depends only on its own text.

/** `pieces`: never empty ones. `length`: their sum. `part`: the newest one. */
export type StreamedText = {
  pieces: string[]
  length: number
  part: Part | undefined
  isDisputed: boolean
}

/** `key` identifies the part. `pieces` and `length`: the counts before it. */
type Part = { key: string; pieces: number; length: number; isEnded: boolean }

export function newText(): StreamedText {
  return { pieces: [], length: 0, part: undefined, isDisputed: false }
}

/** Adds a piece of a part. Returns its new text, which is all of it. */
export function addPiece(streamed: StreamedText, key: string, text: string): string {
  if (streamed.part?.key !== key) streamed.part = beginPart(streamed, key)
  return add(streamed, text)
}

/** Adds a whole part. Returns its new text. */
export function endPart(streamed: StreamedText, key: string, text: string): string {
  if (hasEnding(streamed, text)) return ''
  const part = streamed.part?.key === key ? streamed.part : beginPart(streamed, key)
  const rest = part.isEnded ? undefined : restOf(streamed, part, text)
  streamed.part = { ...part, isEnded: true }
  if (rest === undefined && differs(streamed, part, text)) streamed.isDisputed = true
  return add(streamed, rest ?? '')
}

/** Adds the whole item. Returns its new text. A blank text means no statement. */
export function endText(streamed: StreamedText, text: string): string {
  if (text.trim() === '') return ''
  const item = { pieces: 0, length: 0 }
  const rest = restOf(streamed, item, text)
  if (rest === undefined && differs(streamed, item, text)) streamed.isDisputed = true
  return add(streamed, rest ?? '')
}

function beginPart({ pieces, length }: StreamedText, key: string): Part {
  return { key, pieces: pieces.length, length, isEnded: false }
}

function add(streamed: StreamedText, text: string): string {
  if (text !== '') streamed.pieces.push(text)
  streamed.length += text.length
  return text
}

/** The rest of `text` after everything since `from`; undefined: they differ. */
function restOf(
  { pieces, length }: StreamedText,
  from: Pick<Part, 'pieces' | 'length'>,
  text: string,
): string | undefined {
  const known = length - from.length
  if (text.length < known) return undefined
  return text.startsWith(pieces.slice(from.pieces).join('')) ? text.slice(known) : undefined
}

/** Whether `text` differs from everything since `from`, apart from outer blanks. */
function differs(
  { pieces, length }: StreamedText,
  from: Pick<Part, 'pieces' | 'length'>,
  text: string,
): boolean {
  const isLonger = length - from.length > 2 * text.length + blanksMax // avoids the join
  return isLonger || pieces.slice(from.pieces).join('').trim() !== text.trim()
}

const blanksMax = 64

/** Whether all pieces together end with this text: then it is a repetition. */
function hasEnding({ pieces }: StreamedText, text: string): boolean {
  let rest = text
  for (let n = pieces.length - 1; n >= 0; n -= 1) {
    const piece = pieces[n] as string
    if (piece.length >= rest.length) return piece.endsWith(rest)
    if (!rest.endsWith(piece)) return false
    rest = rest.slice(0, rest.length - piece.length)
  }
  return rest === ''
}
