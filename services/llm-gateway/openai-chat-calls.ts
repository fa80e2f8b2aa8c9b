// Which call a piece of a Chat Completions stream belongs to, and the calls that the pieces make.
// Owns: the pieces of the response's calls until it is over. Does not own: reading chunks (openai-chat-events.ts), what the pieces of one call say
// (openai-chat-arguments.ts).
//
// The protocol: a call's first piece has an index, an id and a name, the others have the index. Servers leave out each of the three, repeat each,
// and give several calls the same index or the same id. So a call can only be told apart, and spelled, when all has been heard: its events come
// out together at the end. Nothing waits for them, since a call counts only when the response is whole.
//
// K1. Only a piece with a name begins a further call beside one that it could belong to: with another id or index, or after that one is whole.
// K2. The first id that was given stays.
// K3. What belongs to no call is passed on as arguments of a call that never began, never dropped: it is missing from some call.

import { limits } from '../../shared/limits.ts'
import type { PartEvent } from '../../shared/messages.ts'
import { argumentsFrom, BracketCount, beginsObject, isUnfinished, nameFrom, sameJson } from './openai-chat-arguments.ts'

/**
 * One entry of `tool_calls`. `index` undefined, `id`, `name`, `text` and `extra` empty: not given. `extra`: what the server wants to see again beside
 * the call, such as the signature of the thought behind it, as JSON. `chunk`: the number of its chunk in the stream.
 */
export type CallPiece = { index: string | undefined; id: string; name: string; text: string; extra: string; chunk: number }

type OpenCall = {
  index: string | undefined
  id: string
  /** The texts given for its name, without one that only repeats the one before. */
  names: string[]
  /** The name that they make so far. */
  name: string
  pieces: string[]
  brackets: BracketCount
  extra: string
  /** The chunk of its newest piece. */
  chunk: number
}

/** The calls of one response in the order in which they began; `addPiece` changes it in place. */
export type OpenCalls = { offered: ReadonlySet<string>; calls: OpenCall[]; bytes: number }

/** Stands where the older form of a call has no index. */
export const olderForm = 'function_call'

/** `offered`: the names of the tools that were offered, for where a name's spelling is in doubt. */
export function newCalls(offered: ReadonlySet<string>): OpenCalls {
  return { offered, calls: [], bytes: 0 }
}

export function addPiece(open: OpenCalls, piece: CallPiece): void {
  // The accumulator refuses a response with more calls than the limit; that there is one more is all it has to know.
  if (open.calls.length > limits.responseCallsMax) return
  const known = possibleCall(open.calls, piece)
  const call = known === undefined || beginsAnother(open, known, piece) ? beginCall(open, piece) : known

  call.index ??= piece.index
  call.chunk = piece.chunk
  if (call.id === '') call.id = kept(open, piece.id)
  if (call.extra === '') call.extra = kept(open, piece.extra)
  // No tool's name has so many pieces, so the call is one of no tool already.
  if (piece.name !== '' && piece.name !== call.names.at(-1) && call.names.length < limits.callNameTextsMax) {
    call.names.push(kept(open, piece.name))
    call.name = nameFrom(call.names, open.offered)
  }
  if (piece.text !== '') call.pieces.push(kept(open, piece.text))
  call.brackets.add(piece.text)
}

/** The older form of a response's only call says nothing new where the newer one came, too. */
export function forgetOlderForm(open: OpenCalls): void {
  open.calls = open.calls.filter(({ index }) => index !== olderForm)
}

/** Counted as one of the texts that wait for the end (R7). */
function kept(open: OpenCalls, text: string): string {
  if (text !== '') open.bytes += 8 + Buffer.byteLength(text)
  return text
}

function beginCall({ calls }: OpenCalls, { index, chunk }: CallPiece): OpenCall {
  const call: OpenCall = { index, id: '', names: [], name: '', pieces: [], brackets: new BracketCount(), extra: '', chunk }
  calls.push(call)
  return call
}

/** The call that a piece may go on with: the one with its id and index, else with its id if there is but one, else with its index. */
function possibleCall(calls: OpenCall[], { index, id, name }: CallPiece): OpenCall | undefined {
  const newest = calls.at(-1)
  const withId = id === '' ? [] : calls.filter((call) => call.id === id)
  if (index === undefined) return withId.at(-1) ?? (id === '' || name === '' ? newest : undefined)
  const alone = withId.length === 1 ? withId[0] : undefined
  return (
    withId.findLast((call) => call.index === index) ??
    alone ??
    calls.findLast((call) => call.index === index) ??
    (newest?.index === undefined ? newest : undefined)
  )
}

/** K1. In doubt a piece goes on with the call before: arguments of two calls in one text are refused, and nothing runs twice. */
function beginsAnother({ offered }: OpenCalls, before: OpenCall, { index, id, name, text, chunk }: CallPiece): boolean {
  if (name === '') return false
  const isWhole = before.brackets.closed
  const isSameId = id !== '' && id === before.id
  const canBegin = text.trim() === '' || beginsObject(text)

  if (index !== undefined && before.index !== undefined && index !== before.index)
    // The same id and name again before there are all arguments: an index that is counted up for each chunk.
    return isSameId ? isWhole || name !== before.name : canBegin || isWhole
  if (id !== '' && before.id !== '' && id !== before.id) {
    // An id that is made anew for each chunk: the name came first, and these are its arguments.
    const completes = before.pieces.length === 0 && name === before.name && text.trim() !== ''
    return !completes && (canBegin || isWhole)
  }
  // Two entries of one chunk are two calls, unless both say that they are the same one.
  if (chunk === before.chunk && !(isSameId && index !== undefined)) return true
  if (before.name === '') return false
  if (isSameId) return isWhole && name !== before.name
  if (!isWhole) return before.pieces.length === 0 && isAnotherTool(offered, before.name, name)
  return name !== before.name || (beginsObject(text) && !sameJson(text, before.pieces.join('')))
}

/** Rather than the rest of its name. */
function isAnotherTool(offered: ReadonlySet<string>, before: string, name: string): boolean {
  return name !== before && offered.has(before) && offered.has(name) && !offered.has(before + name)
}

/** `ended`: which calls the end of the response has closed; `finished` are those whose arguments cannot go on. */
type CallsEnd = { ended: 'all' | 'finished' | 'none'; newIndex: () => number }

/** The events of all calls, in the order in which they began. */
export function callEvents({ calls }: OpenCalls, { ended, newIndex }: CallsEnd): PartEvent[] {
  return calls.flatMap((call) => {
    const index = newIndex()
    const text = argumentsFrom(call.pieces)
    const given = pieceTexts(text).map((piece) => partEvent('call_arguments', index, piece))
    if (!hasBegun(call)) return given
    const isClosed = ended === 'all' || (ended === 'finished' && (text === '' || !isUnfinished(text)))
    const start: PartEvent = { kind: 'call_start', index, id: call.id === '' ? null : call.id, name: call.name, text: '' }
    return [start, ...given, ...(isClosed ? [partEvent('call_end', index, '')] : [])]
  })
}

/** What came without an id and a name is no call of its own (K3). */
function hasBegun({ id, name }: OpenCall): boolean {
  return id !== '' || name !== ''
}

/** In pieces that a record of parts has room for, whatever characters they hold. */
function pieceTexts(text: string): string[] {
  const unitsMax = limits.partBytesMax / 4
  return Array.from({ length: Math.ceil(text.length / unitsMax) }, (_, n) => text.slice(n * unitsMax, (n + 1) * unitsMax))
}

function partEvent(kind: PartEvent['kind'], index: number, text: string): PartEvent {
  return { kind, index, id: null, name: null, text }
}

/** What the server wants to see again beside its calls, by their ordinals; undefined: nothing. */
export function extrasOf({ calls }: OpenCalls): Record<string, unknown> | undefined {
  const extras = calls
    .filter(hasBegun)
    .flatMap(({ extra }, ordinal) => (extra === '' ? [] : [[ordinal, JSON.parse(extra) as unknown] as const]))
  return extras.length === 0 ? undefined : Object.fromEntries(extras)
}
