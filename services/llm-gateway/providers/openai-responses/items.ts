// One item of a Responses stream: what it is, and what of each event about it is new
// (OPENAI-RESPONSES-EVENTS-1).

import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { plainJson, sameJson } from '../../../../shared/lib/json/same-json.ts'
import type { ExactValues, Path } from '../../wire/exact-json.ts'
import { partEvent, textEvents } from '../../wire/part-events.ts'
import { endText, newText, type SaidText } from './texts.ts'

type Json = Record<string, unknown>

/** What an item is to us: `other` is what the provider runs itself, and what is unknown. */
export type Item = {
  kind: 'call' | 'text' | 'reasoning' | 'other'
  /** The provider's word for it. */
  type: unknown
  /** All by which events name it, and its place in the output. */
  ids: string[]
  at: number
  /** The provider's id of the call; empty: none, or no call. */
  callId: string
  name: string
  /** Our own. */
  index: number
  /** Whose reasoning it is, and how many calls began before it. */
  model: string
  callsBefore: number
  /** What was passed on of its text. */
  said: SaidText
  /** What was passed on of its arguments. */
  given: string
  /** The pieces of arguments that came, joined. */
  pieced: string
  /**
   * What the first event with all of the arguments said they were, how many such events came, and
   * whether one said something else.
   */
  whole: { text: string; plain: string; events: number; differ: boolean } | undefined
  /** The call was announced: it is when its name is known. */
  begun: boolean
  /** An event has ended its arguments. */
  isDone: boolean
  ended: boolean
  /** By the server's own word it is not all there, whatever ends it. */
  isUnfinished: boolean
  /** Events call it by different names. */
  isRenamed: boolean
}

export type NewItem = Pick<Item, 'at' | 'index' | 'model' | 'callsBefore'> & { sent: Json }

export function itemOf({ sent, ...place }: NewItem): Item {
  return {
    ...place,
    ...{
      kind: kindOf(sent.type),
      type: sent.type,
      ids: idsOf(sent),
      callId: textOr(sent.call_id, ''),
      name: textOr(sent.name, ''),
    },
    ...{ said: newText(), given: '', pieced: '', whole: undefined },
    ...{ begun: false, isDone: false, ended: false, isUnfinished: false, isRenamed: false },
  }
}

function kindOf(type: unknown): Item['kind'] {
  if (type === 'function_call' || type === 'custom_tool_call') return 'call'
  if (type === 'message') return 'text'
  return type === 'reasoning' ? 'reasoning' : 'other'
}

/** All by which an event may name the item. */
export function idsOf(sent: Json): string[] {
  return [textOr(sent.id, ''), textOr(sent.call_id, '')].filter((id) => id !== '')
}

/**
 * The arguments of a call in an item or an event, as text: servers that send the value itself get
 * it written down as they sent it.
 */
export function argumentText(sent: Json, exact: ExactValues, path: Path): string {
  const key = sent.arguments === undefined ? 'input' : 'arguments'
  const given = sent[key]
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : (exact([...path, key]) ?? '')
}

/** `start`: arguments that stood in the announcement. */
export function beginItem(item: Item, sent: Json, start: string): PartEvent[] {
  if (item.kind === 'call') return item.name === '' ? [] : beginCall(item, start)
  const text = item.kind === 'other' ? JSON.stringify(sent) : ''
  return text === '' || text.length > keptApartMax
    ? []
    : [partEvent('kept_apart', item.index, text)]
}

/** Characters of an item that is none of ours, as it stays in the log. */
const keptApartMax = 16_384

function beginCall(item: Item, start: string): PartEvent[] {
  const { index, name, callId, ids, given, type } = item
  item.begun = true
  if (given === '') item.given = start
  return [
    { kind: 'call_start', index, id: callId === '' ? (ids[0] ?? null) : callId, name, text: start },
    ...(type === 'custom_tool_call' ? [partEvent('call_free_text', index, '')] : []),
    ...(given === '' ? [] : [partEvent('call_arguments', index, given)]),
  ]
}

/** A piece of a call's arguments; those supersede what stood in the announcement. */
export function addArguments(item: Item, text: string): PartEvent[] {
  item.given = item.begun && item.pieced === '' ? text : item.given + text
  item.pieced += text
  return item.begun ? [partEvent('call_arguments', item.index, text)] : []
}

/**
 * All of a call's arguments once more; empty: they are not said. `name`: for a call that had none.
 */
export function allArguments(item: Item, text: string, name: unknown): PartEvent[] {
  if (item.name === '') item.name = textOr(name, '')
  if (typeof name === 'string' && name.trim() !== '' && name !== item.name) item.isRenamed = true
  const begin = item.begun ? [] : beginCall(item, '')
  if (!isPlaceholder(text)) noteWhole(item, text)
  if (text === '' || text === item.given) return begin
  item.given = text
  return [...begin, partEvent('call_done', item.index, text)]
}

/**
 * Closes a call that has ended, once nothing more can be said about it: the response may still call
 * it incomplete, or say other arguments. One that the server contradicts itself about stays open,
 * so that it does not run (OPENAI-RESPONSES-EVENTS-4).
 */
export function closeCall(item: Item): PartEvent[] {
  const isWhole =
    item.kind === 'call' &&
    item.ended &&
    !item.isUnfinished &&
    !item.isRenamed &&
    !isContradicted(item)
  return isWhole ? [partEvent('call_end', item.index, '')] : []
}

/**
 * One whole text that differs from the pieces is no proof against them. Servers send all so far
 * with each piece, so the end of them may be all of it.
 */
function isContradicted({ pieced, whole }: Item): boolean {
  if (whole === undefined || whole.events < 2) return false
  return (
    whole.differ ||
    (pieced !== '' && !pieced.trim().endsWith(whole.text.trim()) && !sameJson(pieced, whole.text))
  )
}

/** Kept is the first only: how often it is said again is up to the server. */
function noteWhole(item: Item, text: string): void {
  item.whole ??= { text, plain: plainJson(text) ?? text, events: 0, differ: false }
  item.whole.events += 1
  if (text !== item.whole.text && (plainJson(text) ?? text) !== item.whole.plain)
    item.whole.differ = true
}

/** Stands where a server has nothing to say. */
function isPlaceholder(text: string): boolean {
  return text.trim() === '' || text.trim() === '{}'
}

/** `raw`: thinking as it came, as JSON; `text`: a call's arguments in it. */
export type EndedItem = { sent: Json; text: string; raw: string | undefined }

export function endItem(item: Item, { sent, text, raw }: EndedItem): PartEvent[] {
  switch (item.kind) {
    case 'call': {
      if (item.callId === '') item.callId = textOr(sent.call_id, '')
      const events = allArguments(item, text, sent.name)
      if (sent.status === 'incomplete') item.isUnfinished = true
      else item.ended = true
      return events
    }
    case 'reasoning': {
      if (item.ended || raw === undefined) return []
      item.ended = true
      const shown =
        item.said.length === 0
          ? textEvents(
              'reasoning',
              item.index,
              textIn(sent.summary, 'text') + textIn(sent.content, 'text'),
            )
          : []
      const block = `{"model":${JSON.stringify(item.model)},"calls":${item.callsBefore},"item":${raw}}`
      return [...shown, partEvent('reasoning_block', item.index, block)]
    }
    case 'text': {
      const isFirst = !item.ended
      item.ended = true
      if (sent.status === 'incomplete') item.isUnfinished = true
      if (!isFirst) return []
      const [text, refusal] = [textIn(sent.content, 'text'), textIn(sent.content, 'refusal')]
      if (refusal === '') return textEvents('text', item.index, endText(item.said, text))
      if (item.said.length > 0) return []
      return [
        ...textEvents('text', item.index, text),
        ...textEvents('refusal', item.index, refusal),
      ]
    }
    case 'other':
      item.ended = true
      return []
  }
}

function textIn(parts: unknown, key: string): string {
  return Array.isArray(parts)
    ? parts.flatMap((part: unknown) => (isObject(part) ? textOr(part[key], '') : '')).join('')
    : ''
}

function textOr<T>(value: unknown, other: T): string | T {
  return typeof value === 'string' ? value : other
}
