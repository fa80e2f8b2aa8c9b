// A response of the Responses API while it streams: its items, and which of them an event is about.
//
// STREAM-1. An event belongs to the item with its id, else to the one at its place, else to the one
//     that began last: servers leave out either, and some give an item another id in each event.
//     Arguments that name no item while several calls are open belong to none that we know.

import type { PartEvent, Usage } from '../../../../shared/contract/messages.ts'
import type { ExactValues, Path } from '../../wire/exact-json.ts'
import { newIndex } from '../../wire/part-events.ts'
import type { Failed } from '../provider.ts'
import { argumentText, beginItem, endItem, type Item, idsOf, itemOf } from './items.ts'

type Json = Record<string, unknown>

/** The functions here and in openai-responses-events.ts change it in place. */
export type ResponseStream = {
  /** Must not come back in what a server says about an error. */
  secret: string
  /** Whose reasoning it is: no other model takes it back. */
  model: string
  /** In the order in which they began. */
  items: Item[]
  /** Our own indexes so far. */
  count: number
  /** The server's own id of the response; empty: it gave none. */
  id: string
  usage: Usage
  /** As the server sent it. */
  rawUsage: unknown
  /**
   * The most tokens that the response may have, by the server's word; undefined: it said nothing.
   */
  outputTokensMax: number | undefined
  /** The event that ended the response, without its first word; empty while none came. */
  finish: string
  /** Why it is incomplete, in the server's word; undefined: it is not. */
  incomplete: string | undefined
  /** The model has refused, in words. */
  hasRefusal: boolean
  /** The event that ends the response came, or the end mark of another protocol. */
  over: boolean
  /** A payload was passed over (OPENAI-RESPONSES-EVENTS-3): then a mere end mark is no end. */
  hasUnread: boolean
  /** The last events are out. */
  ended: boolean
  /** Why this attempt is no answer, whatever else comes; undefined: it still may be one. */
  fault: Failed | undefined
}

export function newResponseStream({
  secret,
  model,
}: {
  secret: string
  model: string
}): ResponseStream {
  return {
    ...{ secret, model, items: [], count: 0, id: '' },
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ...{ rawUsage: undefined, outputTokensMax: undefined, finish: '', incomplete: undefined },
    ...{ hasRefusal: false, over: false, hasUnread: false, ended: false, fault: undefined },
  }
}

/** Where an event says that its item is. */
export type Place = { id: string; index: number | undefined }

/** Some servers write the index as a text. */
export function placeOf({ item_id: id, output_index: given }: Json): Place {
  const index = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given
  return {
    id: typeof id === 'string' ? id : '',
    index: typeof index === 'number' ? index : undefined,
  }
}

/** Keeps STREAM-1. */
export function findItem({ items }: ResponseStream, { id, index }: Place): Item | undefined {
  const known = id === '' ? undefined : items.findLast((item) => item.ids.includes(id))
  if (known !== undefined || index !== undefined)
    return known ?? items.findLast((item) => item.at === index)
  return id === '' ? items.at(-1) : undefined
}

/**
 * As findItem, for arguments: while several calls are open, those that name none are of no call
 * that we know.
 */
export function findCall(stream: ResponseStream, place: Place): Item | undefined {
  const isOpen = ({ kind, isDone, ended }: Item) => kind === 'call' && !isDone && !ended
  const isUnnamed = place.id === '' && place.index === undefined
  return isUnnamed && stream.items.filter(isOpen).length > 1 ? undefined : findItem(stream, place)
}

/** An item as an event shows it; `exact` is the event, in which `path` leads to the item. */
export type SentItem = { sent: Json; index: number | undefined; exact: ExactValues; path: Path }

/** The same item announced twice is one item. */
export function itemAdded(stream: ResponseStream, item: SentItem): PartEvent[] {
  const ids = idsOf(item.sent)
  if (stream.items.some((known) => !known.ended && ids.some((id) => known.ids.includes(id))))
    return []
  return beginItem(begin(stream, item), item.sent, argumentText(item.sent, item.exact, item.path))
}

/** The item as a whole, from the event that ends it. */
export function itemDone(stream: ResponseStream, item: SentItem): PartEvent[] {
  const known = knownItem(stream, item, (other) => !other.ended)
  return known === undefined ? wholeItem(stream, item) : ending(known, item)
}

/** An item that nobody announced, whole. */
export function wholeItem(stream: ResponseStream, item: SentItem): PartEvent[] {
  const begun = begin(stream, item)
  return [...beginItem(begun, item.sent, ''), ...ending(begun, item)]
}

export function ending(item: Item, { sent, exact, path }: SentItem): PartEvent[] {
  return endItem(item, {
    sent,
    text: argumentText(sent, exact, path),
    raw: sent.type === 'reasoning' ? exact(path) : undefined,
  })
}

/**
 * The item by one of its ids, and its place where several have that; else the one of its kind at
 * its place, if it is one of `possible` and no other call.
 */
export function knownItem(
  { items }: ResponseStream,
  { sent, index }: SentItem,
  possible: (item: Item) => boolean,
): Item | undefined {
  const ids = idsOf(sent)
  const isOther = ({ callId }: Item) =>
    callId !== '' &&
    typeof sent.call_id === 'string' &&
    sent.call_id !== '' &&
    callId !== sent.call_id
  const named = items.filter((item) => item.ids.some((id) => ids.includes(id)))
  return (
    named.findLast(({ at }) => at === index) ??
    named.at(-1) ??
    items.findLast(
      (item) => item.at === index && item.type === sent.type && possible(item) && !isOther(item),
    )
  )
}

function begin(stream: ResponseStream, { sent, index }: Pick<SentItem, 'sent' | 'index'>): Item {
  const { items, model } = stream
  const callsBefore = items.filter(({ kind }) => kind === 'call').length
  const item = itemOf({
    sent,
    at: index ?? items.length,
    index: newIndex(stream),
    model,
    callsBefore,
  })
  items.push(item)
  return item
}

/** A text whose item never began is still what the user should read. */
export function implicitItem(stream: ResponseStream, { id, index }: Place): Item {
  return begin(stream, { sent: { type: 'message', ...(id && { id }) }, index })
}
