// Which call a piece belongs to, and the calls that the pieces make, in a format that marks neither
// the beginning nor the end of a call (Chat Completions and all that copy it). Owns: the pieces of
// a response's calls. Does not own: reading chunks (llm-gateway), what the pieces of one call say
// (piece-texts.ts), whether a call may run (call.ts).
//
// The protocol: a call's first piece has an index, an id and a name, the others have the index.
// Servers leave out each of the three, repeat each, and give several calls the same index or the
// same id. So a call can only be told apart, and spelled, when all has been heard.
//
// CALL-PIECES-1. A piece belongs to the call with its id, else to the one with its index, else to
//     the last one that is open.
// CALL-PIECES-2. Only a name begins a further call beside one that a piece could belong to: with
//     another id or index, or after that one is whole. Where no call has an id, it may have come
//     alone, a piece earlier.
// CALL-PIECES-3. The first id that was given stays.
// CALL-PIECES-4. What belongs to no call is kept as arguments of a call that never began, never
//     dropped: it is missing from some call. So is what could belong to several: it goes where
//     CALL-PIECES-1 says, and no other call counts as one without arguments.
// CALL-PIECES-5. In doubt a call is not doubled: one without arguments that the next one under its
//     index, or one with an id, says again by its name is the announcement of that.

import { limits } from '../../shared/contract/limits.ts'
import type { PartEvent } from '../../shared/contract/messages.ts'
import { plainJson, sameJson } from '../../shared/lib/json/same-json.ts'
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
  /**
   * So many of the pieces made the first whole object; 0: none did yet. And what it says, once
   * somebody has asked.
   */
  piecesOfFirst: number
  first: string | undefined
  /** What the server wants to see again beside it, and the model that it came from. */
  extra: { model: string; text: string } | undefined
  /** The chunks of its first piece and of its newest. */
  begun: number
  chunk: number
  /**
   * Its name came again, with nothing behind it and no id anywhere, when it was whole: the end of
   * it, or the beginning of another call of the tool.
   */
  isNamedAgain: boolean
  /** Nothing but such a name told it apart from this call: the same arguments are a repeat. */
  after: PiecedCall | undefined
  /** Its arguments are text for a tool that takes no JSON. */
  isFreeText: boolean
}

/** The calls of one response in the order in which they began; `addPiece` changes it in place. */
export type PiecedCalls = {
  offered: ReadonlySet<string>
  calls: PiecedCall[]
  chunks: number
  newest: PiecedCall | undefined
  /** A piece came that could belong to several calls (CALL-PIECES-4). */
  isMixed: boolean
}

/** Stands where a piece has no index. */
const noIndex = -1
/** Stands where the older form of a single call has none. */
const olderForm = -2

/** `offered`: the names of the tools that were offered, for where a name's spelling is in doubt. */
export function newPiecedCalls(offered: readonly string[]): PiecedCalls {
  return { offered: new Set(offered), calls: [], chunks: 0, newest: undefined, isMixed: false }
}

type Piece = { index: number; id: string; name: string; text: string; chunk: number }

/** `event`: a call_piece or call_piece_beside. */
export function addPiece(open: PiecedCalls, { kind, index, id, name, text }: PartEvent): void {
  if (kind === 'call_piece') open.chunks += 1
  const piece = { index, id: id ?? '', name: name ?? '', text, chunk: open.chunks }
  // Some servers send both forms: then the older one says nothing new.
  if (index !== olderForm) open.calls = open.calls.filter((call) => call.index !== olderForm)
  else if (open.calls.some((call) => call.index !== olderForm)) return
  // The accumulator refuses a response with more calls than the limit; that there is one more is
  // all it has to know.
  if (open.calls.length > limits.responseCallsMax) return

  open.isMixed ||= isMixed(open.calls, piece)
  const known = possibleCall(open.calls, piece)
  const goesOn = known !== undefined && !beginsAnother(open, known, piece)
  const call = goesOn ? known : beginCall(open, piece, known)
  if (goesOn && piece.name !== '')
    known.isNamedAgain =
      known.brackets.closed && known.id === '' && piece.id === '' && text.trim() === ''
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
  if (call.piecesOfFirst === 0 && call.brackets.closed) call.piecesOfFirst = call.pieces.length
}

/** To the call of the newest piece. */
export function addExtra({ newest }: PiecedCalls, { name, text }: PartEvent): void {
  if (newest !== undefined) newest.extra ??= { model: name ?? '', text }
}

/** The arguments of the call of the newest piece are no JSON. */
export function markFreeText({ newest }: PiecedCalls): void {
  if (newest !== undefined) newest.isFreeText = true
}

/** Those of the calls that began, but for what was only said again, or only announced. */
export function begunCalls({ calls }: PiecedCalls): PiecedCall[] {
  const identified = new Set(calls.flatMap(({ id, name }) => (id === '' ? [] : [name])))
  return calls.filter((call, n) => {
    const { id, name, pieces, after } = call
    // Where calls have ids, a mere name without one is that of a call whose id came later.
    const isUnidentified = id === '' && identified.has(name)
    const isAnnouncement =
      pieces.length === 0 && (isUnidentified || isSameStart(call, calls.slice(n + 1)))
    const isRepeat = after !== undefined && sameJson(pieces.join(''), after.pieces.join(''))
    return hasBegun(call) && !isAnnouncement && !isRepeat
  })
}

/**
 * Some servers give each piece an id and the name: then what goes on with a call that has no
 * arguments yet looks like another one.
 */
function isSameStart({ index, name, begun }: PiecedCall, later: PiecedCall[]): boolean {
  const next = index === noIndex ? undefined : later.find((call) => call.index === index)
  return next !== undefined && next.name === name && begun < next.begun
}

/** What came without an id and a name is no call of its own (CALL-PIECES-4). */
export function hasBegun({ id, name }: PiecedCall): boolean {
  return id !== '' || name !== ''
}

/**
 * `known`: the call that the piece could have gone on with. Where the piece has no name, that one's
 * name came again before it.
 */
function beginCall(
  { calls }: PiecedCalls,
  { index, name, chunk }: Piece,
  known: PiecedCall | undefined,
): PiecedCall {
  const after = name === '' ? known : undefined
  const call: PiecedCall = {
    ...{
      index,
      id: '',
      names: after?.names.slice(0, 1) ?? [],
      name: after?.name ?? '',
      pieces: [],
    },
    ...{
      brackets: new BracketCount(),
      piecesOfFirst: 0,
      first: undefined,
      extra: undefined,
      begun: chunk,
      chunk,
    },
    ...{ isNamedAgain: false, after, isFreeText: false },
  }
  calls.push(call)
  return call
}

/**
 * Of several calls that have an index and no arguments yet, a piece with neither an index nor an id
 * names none.
 */
function isMixed(calls: PiecedCall[], { index, id, name, text }: Piece): boolean {
  if (index !== noIndex || id !== '' || name !== '' || text.trim() === '') return false
  return (
    calls.filter((call) => call.index !== noIndex && call.pieces.length === 0 && hasBegun(call))
      .length > 1
  )
}

/**
 * The call that a piece may go on with (CALL-PIECES-1): the one with its id and index, else with
 * its id if there is but one, else with its index.
 */
function possibleCall(calls: PiecedCall[], { index, id, name }: Piece): PiecedCall | undefined {
  const newest = calls.at(-1)
  const withId = id === '' ? [] : calls.filter((call) => call.id === id)
  if (index === noIndex) return withId.at(-1) ?? (id === '' || name === '' ? newest : undefined)
  const alone = withId.length === 1 ? withId[0] : undefined
  const known =
    withId.findLast((call) => call.index === index) ??
    alone ??
    calls.findLast((call) => call.index === index)
  if (known !== undefined || newest === undefined) return known
  const isOpen =
    newest.index === noIndex || (name === '' && hasBegun(newest) && !newest.brackets.closed)
  return isOpen ? newest : undefined
}

/**
 * CALL-PIECES-2. In doubt a piece goes on with the call before: arguments of two calls in one text
 *     are refused, and nothing runs twice.
 */
function beginsAnother({ offered }: PiecedCalls, before: PiecedCall, piece: Piece): boolean {
  const { index, id, name, text, chunk } = piece
  const isWhole = before.brackets.closed
  if (name === '') return before.isNamedAgain && isWhole && beginsObject(text)
  const isSameId = id !== '' && id === before.id
  const canBegin = text.trim() === '' || beginsObject(text)

  if (index !== noIndex && before.index !== noIndex && index !== before.index)
    // The same id and name again before there are all arguments: an index that is counted up for
    // each chunk.
    return isSameId ? isWhole || name !== before.name : canBegin || isWhole
  if (id !== '' && before.id !== '' && id !== before.id)
    return (canBegin || isWhole) && !isSaidAgain(before, piece)
  // Two entries of one chunk are two calls, unless both say that they are the same one.
  if (chunk === before.chunk && !(isSameId && index !== noIndex)) return true
  if (before.name === '') return false
  if (isSameId) return isWhole && name !== before.name
  if (!isWhole) return before.pieces.length === 0 && isAnotherTool(offered, before.name, name)
  if (name !== before.name) return true
  return beginsObject(text) && firstOf(before) !== '{}' && !isFirstOf(before, text) // after {} it is what {} stood for
}

/**
 * What the first object of a whole call says. Kept, because a server may ask with each of many
 * pieces; empty: it is none.
 */
function firstOf(call: PiecedCall): string {
  call.first ??= plainJson(call.pieces.slice(0, call.piecesOfFirst).join('')) ?? ''
  return call.first
}

function isFirstOf(call: PiecedCall, text: string): boolean {
  return firstOf(call) !== '' && plainJson(text) === firstOf(call)
}

/** Rather than the rest of its name, or more of it. */
function isAnotherTool(offered: ReadonlySet<string>, before: string, name: string): boolean {
  return (
    !name.startsWith(before) &&
    offered.has(before) &&
    offered.has(name) &&
    !offered.has(before + name)
  )
}

/**
 * Under the same index, in one piece, what has come in several: some servers make a new id for the
 * call as a whole.
 */
function isSaidAgain(before: PiecedCall, { index, name, text }: Piece): boolean {
  const isSameCall = index !== noIndex && index === before.index && name === before.name
  return isSameCall && before.piecesOfFirst > 1 && before.brackets.closed && isFirstOf(before, text)
}
