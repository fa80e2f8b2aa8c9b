// One item of a Responses stream, and the news in each event about it.

import { isPlaceholder } from '../../contract/arguments/no-arguments.ts'
import type { PartEvent } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { plainJson, sameJson } from '../../lib/json/same-json.ts'
import type { ExactValues, Path } from '../exact-json.ts'
import type { Json } from '../format.ts'
import { keptApartMax, partEvent, textEvents } from '../part-events.ts'
import { endText, newText, type StreamedText } from './texts.ts'
import { toolName } from './tool-name.ts'

/** `other`: provider-run or unknown. */
export type Item = {
  kind: 'call' | 'text' | 'reasoning' | 'other'
  /** The provider's type. */
  type: unknown
  /** Every id in events, and the place in the output. */
  ids: string[]
  at: number
  /** The provider's id of the call; empty: none, or not a call. */
  callId: string
  name: string
  /** Of its tool; empty: none. */
  namespace: string
  /** Our index. */
  index: number
  /** The author of the reasoning, and the number of calls before it. */
  model: string
  callsBefore: number
  /** The emitted text. */
  streamed: StreamedText
  /** The emitted arguments. */
  given: string
  /** The joined pieces of the arguments. */
  pieced: string
  /**
   * The first event with whole arguments: its text, the number of such events, and whether one
   * differed.
   */
  whole: { text: string; plain: string; events: number; differ: boolean } | undefined
  /** The call was emitted, which needs its name. */
  begun: boolean
  /** An event ended its arguments. */
  isDone: boolean
  ended: boolean
  /** The server calls it incomplete, even if an event ends it. */
  isUnfinished: boolean
  /** Events give it different names. */
  isRenamed: boolean
}

export type NewItem = Pick<Item, 'at' | 'index' | 'model' | 'callsBefore'> & { sent: Json }

export function itemOf({ sent, ...place }: NewItem): Item {
  return {
    ...place,
    kind: kindOf(sent.type),
    type: sent.type,
    ids: idsOf(sent),
    callId: textOr(sent.call_id, ''),
    name: textOr(sent.name, ''),
    namespace: textOr(sent.namespace, ''),
    streamed: newText(),
    given: '',
    pieced: '',
    whole: undefined,
    begun: false,
    isDone: false,
    ended: false,
    isUnfinished: false,
    isRenamed: false,
  }
}

function kindOf(type: unknown): Item['kind'] {
  if (type === 'function_call' || type === 'custom_tool_call') return 'call'
  if (type === 'message') return 'text'
  return type === 'reasoning' ? 'reasoning' : 'other'
}

/** Every id by which an event may name the item. */
export function idsOf(sent: Json): string[] {
  return [textOr(sent.id, ''), textOr(sent.call_id, '')].filter((id) => id !== '')
}

/** A call's arguments in an item or event. Some servers send the value itself and not its text. */
export function argumentText(sent: Json, exact: ExactValues, path: Path): string {
  const key = sent.arguments === undefined ? 'input' : 'arguments'
  const given = sent[key]
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : (exact([...path, key]) ?? '')
}

/** `start`: arguments in the announcement. */
export function beginItem(item: Item, sent: Json, start: string): PartEvent[] {
  if (item.kind === 'call') return item.name === '' ? [] : beginCall(item, start)
  const text = item.kind === 'other' ? JSON.stringify(sent) : ''
  return text === '' || text.length > keptApartMax
    ? []
    : [partEvent('kept_apart', item.index, text)]
}

function beginCall(item: Item, start: string): PartEvent[] {
  const { index, callId, ids, given, type } = item
  const name = `${toolName(item)}`
  item.begun = true
  if (given === '') item.given = start
  return [
    { kind: 'call_start', index, id: callId === '' ? (ids[0] ?? null) : callId, name, text: start },
    ...(type === 'custom_tool_call' ? [partEvent('call_free_text', index, '')] : []),
    ...(given === '' ? [] : [partEvent('call_arguments', index, given)]),
  ]
}

/** A piece of a call's arguments. Pieces replace the arguments of the announcement. */
export function addArguments(item: Item, text: string): PartEvent[] {
  item.given = item.begun && item.pieced === '' ? text : item.given + text
  item.pieced += text
  return item.begun ? [partEvent('call_arguments', item.index, text)] : []
}

/** The whole arguments of a call; empty: not in this event. `name`: for a call without one. */
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
 * Closes an ended call at the end of the response, which may still call it incomplete or change its
 * arguments. A call with contradictions stays open and does not run.
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
 * Two whole texts prove a loss if they differ, or if they agree against the pieces. One whole text
 * against the pieces proves nothing. Some servers repeat all arguments so far in each piece, and
 * then the last piece is complete. Pieces that break off begin the whole text: the accumulator decides
 * whether they can belong to another call.
 */
function isContradicted({ pieced, whole }: Item): boolean {
  if (whole === undefined || whole.events < 2) return false
  return (
    whole.differ ||
    (pieced !== '' &&
      !whole.text.startsWith(pieced) &&
      !pieced.trim().endsWith(whole.text.trim()) &&
      !sameJson(pieced, whole.text))
  )
}

/** Keeps only the first: the number of repetitions is up to the server. */
function noteWhole(item: Item, text: string): void {
  item.whole ??= { text, plain: plainJson(text) ?? text, events: 0, differ: false }
  item.whole.events += 1
  if (text !== item.whole.text && (plainJson(text) ?? text) !== item.whole.plain)
    item.whole.differ = true
}

/** `raw`: the thinking as sent, in JSON. `text`: a call's arguments. */
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
        item.streamed.length === 0
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
      return isFirst ? [...endedText(item, sent), ...phaseBlock(item, sent)] : []
    }
    case 'other':
      item.ended = true
      return []
  }
}

function endedText(item: Item, sent: Json): PartEvent[] {
  const { streamed, index } = item
  const [text, refusal] = [textIn(sent.content, 'text'), textIn(sent.content, 'refusal')]
  if (refusal === '') return textEvents('text', index, endText(streamed, text))
  if (streamed.length > 0) return []
  streamed.length = text.length + refusal.length
  return [...textEvents('text', index, text), ...textEvents('refusal', index, refusal)]
}

const phaseCharsMax = 64

/**
 * The phase of a message goes back with it. `chars`: the length of its text in the
 * response's.
 */
function phaseBlock({ index, model, callsBefore, streamed }: Item, sent: Json): PartEvent[] {
  const { phase } = sent
  if (typeof phase !== 'string' || phase === '' || phase.length > phaseCharsMax) return []
  if (streamed.length === 0) return []
  const block = { model, calls: callsBefore, phase, chars: streamed.length }
  return [partEvent('reasoning_block', index, JSON.stringify(block))]
}

function textIn(parts: unknown, key: string): string {
  return Array.isArray(parts)
    ? parts.flatMap((part: unknown) => (isObject(part) ? textOr(part[key], '') : '')).join('')
    : ''
}

function textOr<T>(value: unknown, other: T): string | T {
  return typeof value === 'string' ? value : other
}
