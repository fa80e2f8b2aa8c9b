// Which call a piece belongs to, and the calls that the pieces make, in a format that marks neither the beginning nor the end of a call (Chat
// Completions and all that copy it).
// Owns: the pieces of a response's calls. Does not own: reading chunks (llm-gateway), what the pieces of one call say (piece-texts.ts), whether a call
// may run (call.ts).
//
// The protocol: a call's first piece has an index, an id and a name, the others have the index. Servers leave out each of the three, repeat each,
// and give several calls the same index or the same id. So a call can only be told apart, and spelled, when all has been heard.
//
// K1. A piece belongs to the call with its id, else to the one with its index, else to the last one that is open.
// K2. Only a piece with a name begins a further call beside one that it could belong to: with another id or index, or after that one is whole.
// K3. The first id that was given stays.
// K4. What belongs to no call is kept as arguments of a call that never began, never dropped: it is missing from some call.

import { limits } from '../../shared/limits.ts'
import type { PartEvent } from '../../shared/messages.ts'
import { sameJson } from '../../shared/same-json.ts'
import { BracketCount, beginsObject, nameFrom } from './piece-texts.ts'

/** One call as its pieces tell it. */
export type PiecedCall = {
  /** The provider's, or one of those below. */
  index: number
  id: string
  /** The texts given for its name. */
  names: string[]
  /** The name that they make so far. */
  name: string
  /** The pieces of its arguments, none empty. */
  pieces: string[]
  brackets: BracketCount
  /** What the server wants to see again beside it, and the model that it came from. */
  extra: { model: string; text: string } | undefined
  /** The chunk of its newest piece. */
  chunk: number
}

/** The calls of one response in the order in which they began; `addPiece` changes it in place. */
export type PiecedCalls = { offered: ReadonlySet<string>; calls: PiecedCall[]; chunks: number; newest: PiecedCall | undefined }

/** Stands where a piece has no index. */
const noIndex = -1
/** Stands where the older form of a single call has none. */
const olderForm = -2

/** `offered`: the names of the tools that were offered, for where a name's spelling is in doubt. */
export function newPiecedCalls(offered: readonly string[]): PiecedCalls {
  return { offered: new Set(offered), calls: [], chunks: 0, newest: undefined }
}

type Piece = { index: number; id: string; name: string; text: string; chunk: number }

/** `event`: a call_piece or call_piece_beside. */
export function addPiece(open: PiecedCalls, { kind, index, id, name, text }: PartEvent): void {
  if (kind === 'call_piece') open.chunks += 1
  const piece = { index, id: id ?? '', name: name ?? '', text, chunk: open.chunks }
  // Some servers send both forms: then the older one says nothing new.
  if (index !== olderForm) open.calls = open.calls.filter((call) => call.index !== olderForm)
  else if (open.calls.some((call) => call.index !== olderForm)) return
  // The accumulator refuses a response with more calls than the limit; that there is one more is all it has to know.
  if (open.calls.length > limits.responseCallsMax) return

  const known = possibleCall(open.calls, piece)
  const call = known === undefined || beginsAnother(open, known, piece) ? beginCall(open, piece) : known
  open.newest = call
  if (call.index === noIndex) call.index = index
  call.chunk = piece.chunk
  if (call.id === '') call.id = piece.id
  // No tool's name has so many pieces, so the call is one of no tool already.
  if (piece.name !== '' && call.names.length < limits.callNameTextsMax) {
    call.names.push(piece.name)
    call.name = nameFrom(call.names, open.offered)
  }
  if (text !== '') call.pieces.push(text)
  call.brackets.add(text)
}

/** To the call of the newest piece. */
export function addExtra({ newest }: PiecedCalls, { name, text }: PartEvent): void {
  if (newest !== undefined) newest.extra ??= { model: name ?? '', text }
}

/** What came without an id and a name is no call of its own (K4). */
export function hasBegun({ id, name }: PiecedCall): boolean {
  return id !== '' || name !== ''
}

function beginCall({ calls }: PiecedCalls, { index, chunk }: Piece): PiecedCall {
  const call: PiecedCall = {
    ...{ index, id: '', names: [], name: '', pieces: [] },
    ...{ brackets: new BracketCount(), extra: undefined, chunk },
  }
  calls.push(call)
  return call
}

/** The call that a piece may go on with (K1): the one with its id and index, else with its id if there is but one, else with its index. */
function possibleCall(calls: PiecedCall[], { index, id, name }: Piece): PiecedCall | undefined {
  const newest = calls.at(-1)
  const withId = id === '' ? [] : calls.filter((call) => call.id === id)
  if (index === noIndex) return withId.at(-1) ?? (id === '' || name === '' ? newest : undefined)
  const alone = withId.length === 1 ? withId[0] : undefined
  const known = withId.findLast((call) => call.index === index) ?? alone ?? calls.findLast((call) => call.index === index)
  if (known !== undefined || newest === undefined) return known
  const isOpen = newest.index === noIndex || (name === '' && hasBegun(newest) && !newest.brackets.closed)
  return isOpen ? newest : undefined
}

/** K2. In doubt a piece goes on with the call before: arguments of two calls in one text are refused, and nothing runs twice. */
function beginsAnother({ offered }: PiecedCalls, before: PiecedCall, { index, id, name, text, chunk }: Piece): boolean {
  if (name === '') return false
  const isWhole = before.brackets.closed
  const isSameId = id !== '' && id === before.id
  const canBegin = text.trim() === '' || beginsObject(text)

  if (index !== noIndex && before.index !== noIndex && index !== before.index)
    // The same id and name again before there are all arguments: an index that is counted up for each chunk.
    return isSameId ? isWhole || name !== before.name : canBegin || isWhole
  if (id !== '' && before.id !== '' && id !== before.id) return canBegin || isWhole
  // Two entries of one chunk are two calls, unless both say that they are the same one.
  if (chunk === before.chunk && !(isSameId && index !== noIndex)) return true
  if (before.name === '') return false
  if (isSameId) return isWhole && name !== before.name
  if (!isWhole) return before.pieces.length === 0 && isAnotherTool(offered, before.name, name)
  return name !== before.name || (beginsObject(text) && !sameJson(text, before.pieces.join('')))
}

/** Rather than the rest of its name. */
function isAnotherTool(offered: ReadonlySet<string>, before: string, name: string): boolean {
  return name !== before && offered.has(before) && offered.has(name) && !offered.has(before + name)
}
