// Assigns pieces to calls in a format that marks neither the beginning nor the end of a call (Chat
// Completions and its copies).
// Owns: the pieces of a response's calls.
// Does not own: reading chunks (llm-gateway), the text that one call's pieces make
// (piece-texts.ts), whether a call may run (call.ts).
//
// By the protocol, a call's first piece has an index, an id and a name, and the others only the
// index. Servers omit each of the three, repeat each, or give several calls the same index or id.
// Calls can be separated and spelled only once the whole stream has arrived.
//
// A piece belongs to the call with the same id, otherwise with the same index, otherwise to the
// last open call.
// Only a name begins a call next to a possible one: with another id or index, or once
// that one is whole. Without ids, the name may come alone, one piece earlier.
// The first id of a call stays.
// A piece of no call is kept: some call lacks it. A piece of several calls follows
// the first rule, and no other call then passes as one without arguments.
// In doubt, a call is not doubled. A call without arguments only announces the next
// call with its name, if that one has the same index or an id.

import { isPlaceholder } from '../../shared/contract/arguments/no-arguments.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PartEvent } from '../../shared/contract/messages.ts'
import { plainJson, sameJson } from '../../shared/lib/json/same-json.ts'
import { BracketCount, beginsObject, nameFrom, textFrom } from './piece-texts.ts'

/** Texts in which a provider may send one call's name. */
const callNameTextsMax = 256

/** One call, as its pieces describe it. */
export type PiecedCall = {
  /** The provider's index, or one of the constants below. */
  index: number
  id: string
  /** The texts that the pieces gave as its name. */
  names: string[]
  /** The name that those texts make so far. */
  name: string
  /** The pieces of its arguments, none empty. */
  pieces: string[]
  /** Each piece is a placeholder for no arguments. */
  isEmpty: boolean
  brackets: BracketCount
  /**
   * Number of pieces up to the end of the first whole object, or 0. `first` caches the text of that
   * object.
   */
  piecesOfFirst: number
  first: string | undefined
  /** Data that the server wants back with the call, and the model that sent it. */
  extra: { model: string; text: string } | undefined
  /** The chunk numbers of its first and of its newest piece. */
  begun: number
  chunk: number
  /**
   * The name arrived again after the arguments were whole, with no text and no id. That is either
   * the end of this call or the beginning of another call of the tool.
   */
  isNamedAgain: boolean
  /**
   * The earlier call, if only such a repeated name separates the two. Equal arguments are then a
   * repeat.
   */
  after: PiecedCall | undefined
  /** The arguments are text, for a tool that takes no JSON. */
  isFreeText: boolean
}

/** The calls of one response, in the order in which they began. `addPiece` changes it in place. */
export type PiecedCalls = {
  offered: ReadonlySet<string>
  calls: PiecedCall[]
  chunks: number
  newest: PiecedCall | undefined
  /** A piece arrived that could belong to several calls. */
  isMixed: boolean
}

/** The index of a piece that has none. */
const noIndex = -1
/** The index of the older form, which allows a single call. */
const olderForm = -2

/** `offered`: the names of the offered tools. They decide between possible spellings of a name. */
export function newPiecedCalls(offered: readonly string[]): PiecedCalls {
  return { offered: new Set(offered), calls: [], chunks: 0, newest: undefined, isMixed: false }
}

type Piece = { index: number; id: string; name: string; text: string; chunk: number }

/** `event`: a call_piece or call_piece_beside. */
export function addPiece(open: PiecedCalls, { kind, index, id, name, text }: PartEvent): void {
  if (kind === 'call_piece') open.chunks += 1
  const piece = { index, id: id ?? '', name: name ?? '', text, chunk: open.chunks }
  // Some servers send both forms. The older one then adds nothing.
  if (index !== olderForm) open.calls = open.calls.filter((call) => call.index !== olderForm)
  else if (open.calls.some((call) => call.index !== olderForm)) return
  // One call above the limit is enough: the accumulator refuses such a response.
  if (open.calls.length > limits.responseCallsMax) return

  open.isMixed ||= isMixed(open.calls, piece)
  const known = possibleCall(open.calls, piece)
  const continuesCall = known !== undefined && !beginsAnother(open, known, piece)
  const call = continuesCall ? known : beginCall(open, piece, known)
  if (continuesCall && piece.name !== '')
    known.isNamedAgain =
      known.brackets.closed && known.id === '' && piece.id === '' && text.trim() === ''
  open.newest = call
  if (call.index === noIndex) call.index = index
  call.chunk = piece.chunk
  if (call.id === '') call.id = piece.id
  // No tool's name has so many pieces, so the name already matches no tool.
  if (piece.name !== '' && call.names.length < callNameTextsMax) {
    call.names.push(piece.name)
    call.name = nameFrom(call.names, open.offered)
  }
  if (text !== '') call.pieces.push(text)
  call.isEmpty &&= isPlaceholder(text)
  call.brackets.add(text)
  if (call.piecesOfFirst === 0 && call.brackets.closed) call.piecesOfFirst = call.pieces.length
}

export function addExtra({ newest }: PiecedCalls, { name, text }: PartEvent): void {
  if (newest !== undefined) newest.extra ??= { model: name ?? '', text }
}

export function markFreeText({ newest }: PiecedCalls): void {
  if (newest !== undefined) newest.isFreeText = true
}

/** The calls that began, without repeats and announcements. */
export function begunCalls({ calls }: PiecedCalls): PiecedCall[] {
  const identified = new Set(calls.flatMap(({ id, name }) => (id === '' ? [] : [name])))
  return calls.filter((call, n) => {
    const { id, name, pieces, after } = call
    // If calls have ids, a name without an id belongs to a call whose id came later.
    const isUnidentified = id === '' && identified.has(name)
    const isAnnouncement =
      pieces.length === 0 && (isUnidentified || isSameStart(call, calls.slice(n + 1)))
    const isRepeat = after !== undefined && sameJson(pieces.join(''), after.pieces.join(''))
    return hasBegun(call) && !isAnnouncement && !isRepeat
  })
}

/**
 * Some servers give each piece an id and the name. The continuation of a call without arguments
 * then looks like another call.
 */
function isSameStart({ index, name, begun }: PiecedCall, later: PiecedCall[]): boolean {
  const next = index === noIndex ? undefined : later.find((call) => call.index === index)
  return next !== undefined && next.name === name && begun < next.begun
}

/** Pieces without an id and a name make no call. */
export function hasBegun({ id, name }: PiecedCall): boolean {
  return id !== '' || name !== ''
}

/**
 * `known`: the call that the piece could have continued. If the piece has no name, the name of
 * `known` came again before it.
 */
function beginCall(
  { calls }: PiecedCalls,
  { index, name, chunk }: Piece,
  known: PiecedCall | undefined,
): PiecedCall {
  const after = name === '' ? known : undefined
  const call: PiecedCall = {
    index,
    id: '',
    names: after?.names.slice(0, 1) ?? [],
    name: after?.name ?? '',
    pieces: [],
    isEmpty: true,
    brackets: new BracketCount(),
    piecesOfFirst: 0,
    first: undefined,
    extra: undefined,
    begun: chunk,
    chunk,
    isNamedAgain: false,
    after,
    isFreeText: false,
  }
  calls.push(call)
  return call
}

/**
 * The piece has neither an index nor an id, and several calls with an index have no arguments yet.
 */
function isMixed(calls: PiecedCall[], { index, id, name, text }: Piece): boolean {
  if (index !== noIndex || id !== '' || name !== '' || text.trim() === '') return false
  return calls.filter((call) => call.index !== noIndex && call.isEmpty && hasBegun(call)).length > 1
}

/**
 * The call that a piece may continue. First the call with its id and index, then
 * the only call with its id, then the call with its index.
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
 * In doubt, a piece continues the call before. Joined arguments of two calls
 * are refused, and nothing runs twice.
 */
function beginsAnother({ offered }: PiecedCalls, before: PiecedCall, piece: Piece): boolean {
  const { index, id, name, text, chunk } = piece
  const isWhole = before.brackets.closed
  if (name === '') return before.isNamedAgain && isWhole && beginsObject(text)
  const isSameId = id !== '' && id === before.id
  const canBegin = isPlaceholder(text) || beginsObject(text)

  if (index !== noIndex && before.index !== noIndex && index !== before.index)
    // Same id and name before the arguments are whole: the server increments the index per chunk.
    return isSameId ? isWhole || name !== before.name : canBegin || isWhole
  if (id !== '' && before.id !== '' && id !== before.id)
    return (canBegin || isWhole) && !isWholeRepeat(before, piece)
  // Two entries of one chunk are two calls, unless both have the same id and index.
  if (chunk === before.chunk && !(isSameId && index !== noIndex)) return true
  if (before.name === '') return false
  if (isSameId) return isWhole && name !== before.name
  if (!isWhole) return before.isEmpty && isAnotherTool(offered, before.name, name)
  if (name !== before.name) return true
  // An object after {} replaces it.
  return beginsObject(text) && firstOf(before) !== '{}' && !isFirstOf(before, text)
}

/**
 * The first object of a whole call in plain JSON, empty if there is none. Cached, because each of
 * many pieces may need it.
 */
function firstOf(call: PiecedCall): string {
  call.first ??= plainJson(textFrom(call.pieces.slice(0, call.piecesOfFirst))) ?? ''
  return call.first
}

function isFirstOf(call: PiecedCall, text: string): boolean {
  return firstOf(call) !== '' && plainJson(text) === firstOf(call)
}

/** Whether `name` is another offered tool, not the rest of this name or a longer form of it. */
function isAnotherTool(offered: ReadonlySet<string>, before: string, name: string): boolean {
  return (
    !name.startsWith(before) &&
    offered.has(before) &&
    offered.has(name) &&
    !offered.has(before + name)
  )
}

/**
 * Some servers send a call in pieces and then once more as a whole, with a new id and the same
 * index.
 */
function isWholeRepeat(before: PiecedCall, { index, name, text }: Piece): boolean {
  const isSameCall = index !== noIndex && index === before.index && name === before.name
  return isSameCall && before.piecesOfFirst > 1 && before.brackets.closed && isFirstOf(before, text)
}
