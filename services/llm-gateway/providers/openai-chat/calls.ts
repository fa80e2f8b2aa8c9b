// The pieces of calls in one message or delta of Chat Completions, in the shapes in which servers
// write them, as part events. Owns: what an entry says. Does not own: which call a piece belongs to
// and what its pieces make (accumulator).
//
// Arguments stand under `arguments`, in the entry's function or beside it. What stands under
// another name may be the arguments of a server that has its own words, or a schema, or a comment:
// it is noted as arguments of no call, so that none runs without what may have been meant for it.

import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { jsonFault } from '../../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import type { ExactValues, Path } from '../../wire/exact-json.ts'

type Json = Record<string, unknown>

/**
 * `exact`: the chunk, in which `path` leads to the message; `model`: whose words beside a call are.
 */
export type SentMessage = { exact: ExactValues; path: Path; model: string }

/** In the order of the message. `function_call` is the older form of a single call. */
export function callPieces(message: Json, { exact, path, model }: SentMessage): PartEvent[] {
  const given: unknown = message.tool_calls
  const entries: unknown[] = Array.isArray(given) ? given : isObject(given) ? [given] : []
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
 * What ends a response in which arguments may still follow the word for the end, since it was there
 * before a call had any: that word in a chunk of its own, or the end mark alone where the word had
 * come before the call, from a server that says it behind every chunk. Undefined: the word that
 * there is.
 */
export type Awaited = 'word' | 'mark' | undefined

/**
 * After a chunk. Behind the word `{}` may stand for arguments to come. `wasFinished`: the word came
 * before this chunk; `saysEnd`: it is in it.
 */
export function awaitedAfter(
  { finish, awaited }: { finish: string; awaited: Awaited },
  { pieces, wasFinished, saysEnd }: Chunk,
): Awaited {
  const isNoArguments = ({ text }: PartEvent) =>
    text === '' || (text.trim() === '{}' && wasFinished && !saysEnd)
  if (pieces.some((piece) => piece.name !== null && isNoArguments(piece))) {
    if (finish === '') return undefined
    return wasFinished && pieces.every(({ text }) => text === '') ? 'mark' : 'word'
  }
  return (awaited === 'word' && saysEnd) || !pieces.every(isNoArguments) ? undefined : awaited
}

const noIndex = -1
const olderForm = -2

/** Where a value stands: `path` leads to it in the chunk. */
type Place = { exact: ExactValues; path: Path }

/** `stray`: what may be arguments and does not say so. */
type SentCall = { piece: Omit<PartEvent, 'kind'>; isFreeText: boolean; stray: string[] }

/** A call of a function, wrapped or not, or of a tool that takes any text. */
function sentCall(entry: Json, { exact, path }: Place): SentCall {
  const wrapper = ['custom', 'function'].find((name) => isObject(entry[name]))
  const sent = wrapper === undefined ? entry : (entry[wrapper] as Json)
  const key =
    wrapper === 'custom' || (wrapper === undefined && entry.type === 'custom')
      ? 'input'
      : 'arguments'
  const inside = { exact, path: wrapper === undefined ? path : [...path, wrapper] }
  const text = textAt(sent, key, inside)
  const besideText = wrapper === undefined ? '' : textAt(entry, 'arguments', { exact, path })
  const name = nameOf(sent.name)

  const others = otherWords.filter((word) => word !== key)
  const stray = others.map((word) => textAt(sent, word, inside))
  if (wrapper !== undefined)
    stray.push(...otherWords.map((word) => textAt(entry, word, { exact, path })))
  return {
    piece: {
      index: indexOf(entry.index),
      id: idOf(entry.id) ?? idOf(sent.id),
      name,
      text: text === '' ? besideText : text,
    },
    isFreeText: key === 'input' && name !== null,
    stray: stray.filter((found) => !['', '{}'].includes(found.trim())),
  }
}

const otherWords = ['parameters', 'input', 'args']

/** Arguments are a text; servers that send the value itself get it written down as they sent it. */
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

/** A blank name is none. */
function nameOf(name: unknown): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name : null
}

function idOf(id: unknown): string | null {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? `${id}` : null
}

/** As JSON; what is nested so deep that nobody could read the history with it is left out. */
function extraOf(extra: unknown): string {
  const text = isObject(extra) ? JSON.stringify(extra) : ''
  return text !== '' && jsonFault(text, limits.argumentDepthMax / 2) === undefined ? text : ''
}

/** What stands beside the piece before it, or belongs to no call. */
function eventBeside(kind: PartEvent['kind'], text: string, name: string | null): PartEvent {
  return { kind, index: noIndex, id: null, name, text }
}
