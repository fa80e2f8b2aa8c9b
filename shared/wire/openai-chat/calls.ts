// Maps the calls in one message or delta of Chat Completions to part events, in all forms that
// servers use. Owns: the content of one entry. Does not own: which call a piece belongs to and how
// pieces join (accumulator).
//
// Arguments are in `arguments`, inside the entry's function or next to it. A value under another
// name may be arguments, a schema or a comment. It is emitted as arguments of no call, because a
// call must not run without arguments that may be meant for it.

import { isPlaceholder } from '../../contract/arguments/no-arguments.ts'
import { limits } from '../../contract/limits.ts'
import type { PartEvent } from '../../contract/messages.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { ExactValues, Path } from '../exact-json.ts'
import type { Json } from '../format.ts'

/**
 * `exact`: values of the chunk. `path` leads to the message in it. `model`: the author of the data
 * next to a call.
 */
export type SentMessage = { exact: ExactValues; path: Path; model: string }

/** Whether callPieces may find any. Most chunks of a stream have none. */
export function mayHaveCalls({ tool_calls: calls, function_call: older }: Json): boolean {
  return isObject(older) || Array.isArray(calls) || isObject(calls)
}

/** In message order. `function_call` is the older form of a single call. */
export function callPieces(message: Json, { exact, path, model }: SentMessage): PartEvent[] {
  const given: unknown = message.tool_calls
  const entries = [given].flat()
  const events: PartEvent[] = []
  const add = (piece: Omit<PartEvent, 'kind'>): void => {
    events.push({
      kind: events.some(({ kind }) => kind === 'call_piece') ? 'call_piece_beside' : 'call_piece',
      ...piece,
    })
  }
  for (const [n, entry] of entries.entries()) {
    if (!isObject(entry)) continue
    const call = sentCall(entry, {
      exact,
      path: [...path, 'tool_calls', ...(Array.isArray(given) ? [n] : [])],
    })
    add(call.piece)
    if (call.isFreeText) events.push(eventBeside('call_free_text', '', null))
    const extra = extraOf(entry.extra_content)
    if (extra !== '') events.push(eventBeside('call_extra', extra, model))
    for (const text of call.stray) events.push(eventBeside('call_arguments', text, null))
  }
  const older = message.function_call
  if (!isObject(older)) return events
  const text = textAt(older, 'arguments', { exact, path: [...path, 'function_call'] })
  add({ index: olderForm, id: null, name: nameOf(older.name), text })
  return events
}

type Chunk = { pieces: PartEvent[]; wasFinished: boolean; saysEnd: boolean }

/**
 * The event that ends a response whose finish reason came before its arguments. `word`: a reason in
 * a chunk without arguments. `mark`: the end mark alone, for a server that repeats the reason in
 * every chunk. `reason`: that of another choice with calls, for which no mark stands. Undefined: the
 * reason that came is enough.
 */
export type Awaited = 'word' | 'mark' | 'reason' | undefined

/**
 * The state after a chunk. Once a reason came, `{}` or `null` may be a placeholder for arguments.
 * `wasFinished`: the reason came before this chunk. `saysEnd`: this chunk has it.
 */
export function awaitedAfter(
  { finish, awaited }: { finish: string; awaited: Awaited },
  { pieces, wasFinished, saysEnd }: Chunk,
): Awaited {
  const isNoArguments = ({ text }: PartEvent) =>
    text === '' || (wasFinished && !saysEnd && isPlaceholder(text))
  if (pieces.some((piece) => piece.name !== null && isNoArguments(piece))) {
    if (finish === '') return undefined
    return wasFinished && pieces.every(({ text }) => text === '') ? 'mark' : 'word'
  }
  return (awaited === 'word' && saysEnd) || !pieces.every(isNoArguments) ? undefined : awaited
}

const noIndex = -1
const olderForm = -2

/** `path` leads to the value in the chunk. */
type Place = { exact: ExactValues; path: Path }

/** `stray`: values that may be arguments. */
type SentCall = { piece: Omit<PartEvent, 'kind'>; isFreeText: boolean; stray: string[] }

/** A call of a function, wrapped or not, or of a tool with free text. */
function sentCall(entry: Json, { exact, path }: Place): SentCall {
  const wrapper = wrappers.find((name) => isObject(entry[name]))
  const sent = wrapper === undefined ? entry : (entry[wrapper] as Json)
  const key =
    wrapper === 'custom' || (wrapper === undefined && entry.type === 'custom')
      ? 'input'
      : 'arguments'
  const inside = { exact, path: wrapper === undefined ? path : [...path, wrapper] }
  const text = textAt(sent, key, inside)
  const besideText = wrapper === undefined ? '' : textAt(entry, 'arguments', { exact, path })
  const name = nameOf(sent.name)

  const stray: string[] = []
  const addStray = (found: string): void => {
    if (found !== '' && !isPlaceholder(found)) stray.push(found)
  }
  for (const word of otherWords) if (word !== key) addStray(textAt(sent, word, inside))
  if (wrapper !== undefined)
    for (const word of otherWords) addStray(textAt(entry, word, { exact, path }))
  return {
    piece: {
      index: indexOf(entry.index),
      id: idOf(entry.id) ?? idOf(sent.id),
      name,
      text: text === '' ? besideText : text,
    },
    isFreeText: key === 'input' && name !== null,
    stray,
  }
}

const wrappers = ['custom', 'function']
const otherWords = ['parameters', 'input', 'args']

/** Some servers send the value itself and not its text. */
function textAt(holder: Json, key: string, { exact, path }: Place): string {
  const given = holder[key]
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : (exact([...path, key]) ?? '')
}

function indexOf(given: unknown): number {
  const index = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index <= 0x7fffffff
    ? index
    : noIndex
}

/** A blank name means none. */
function nameOf(name: unknown): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name : null
}

function idOf(id: unknown): string | null {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? `${id}` : null
}

/** As JSON. Leaves out deep nesting, which would make the history unreadable. */
function extraOf(extra: unknown): string {
  const text = isObject(extra) ? JSON.stringify(extra) : ''
  return text !== '' && jsonFault(text, limits.argumentDepthMax / 2) === undefined ? text : ''
}

/** Data next to the previous piece, or without a call. */
function eventBeside(kind: PartEvent['kind'], text: string, name: string | null): PartEvent {
  return { kind, index: noIndex, id: null, name, text }
}
