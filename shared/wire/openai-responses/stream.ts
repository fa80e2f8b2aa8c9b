// A response of the Responses API in progress: its items, and the item of each event.
//
// An event belongs to the item with its id, or at its place, or to the newest one.
// Arguments without an item belong to no known call while several calls are open.

import type { PartEvent } from '../../contract/messages.ts'
import type { OpenAnswer } from '../answer-reader.ts'
import type { ExactValues, Path } from '../exact-json.ts'
import type { Json } from '../format.ts'
import { newIndex } from '../part-events.ts'
import { argumentText, beginItem, endItem, type Item, idsOf, itemOf } from './items.ts'

/** The functions here and in events.ts change it in place. */
export type ResponseStream = OpenAnswer & {
  /** The author of the reasoning, which no other model accepts. */
  model: string
  /** In order of their beginning. */
  items: Item[]
  /** The server's id of the response; empty: none. */
  id: string
  /** The server's reason for an incomplete response; undefined: complete. */
  incomplete: string | undefined
  /** The model refused in words. */
  hasRefusal: boolean
}

/** The place of an event's item. */
export type Place = { id: string; index: number | undefined }

/** Some servers write the index as text. */
export function placeOf({ item_id: id, output_index: given }: Json): Place {
  const index = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given
  return {
    id: typeof id === 'string' ? id : '',
    index: typeof index === 'number' ? index : undefined,
  }
}

/** Servers omit the id or the place, and some change an item's id in each event. */
export function findItem({ items }: ResponseStream, { id, index }: Place): Item | undefined {
  const known = id === '' ? undefined : items.findLast((item) => item.ids.includes(id))
  if (known !== undefined || index !== undefined)
    return known ?? items.findLast((item) => item.at === index)
  return id === '' ? items.at(-1) : undefined
}

/**
 * Like findItem, for arguments. While several calls are open, unnamed arguments belong to none of
 * them.
 */
export function findCall(stream: ResponseStream, place: Place): Item | undefined {
  const isOpen = ({ kind, isDone, ended }: Item) => kind === 'call' && !isDone && !ended
  const isUnnamed = place.id === '' && place.index === undefined
  return isUnnamed && stream.items.filter(isOpen).length > 1 ? undefined : findItem(stream, place)
}

/** An item in an event. `exact`: values of the event. `path` leads to the item. */
export type SentItem = { sent: Json; index: number | undefined; exact: ExactValues; path: Path }

/** A second announcement does not make a second item. */
export function itemAdded(stream: ResponseStream, item: SentItem): PartEvent[] {
  const ids = idsOf(item.sent)
  if (stream.items.some((known) => !known.ended && ids.some((id) => known.ids.includes(id))))
    return []
  return beginItem(begin(stream, item), item.sent, argumentText(item.sent, item.exact, item.path))
}

/** The whole item, from the event that ends it. */
export function itemDone(stream: ResponseStream, item: SentItem): PartEvent[] {
  const known = knownItem(stream, item, (other) => !other.ended)
  return known === undefined ? wholeItem(stream, item) : ending(known, item)
}

/** A whole item without an announcement. */
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
 * The item with one of these ids, or at the same place if several items share them. Otherwise the
 * item of the same kind at that place, if `possible` and not another call.
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

/** The user should see text even if its item never began. */
export function implicitItem(stream: ResponseStream, { id, index }: Place): Item {
  return begin(stream, { sent: { type: 'message', ...(id && { id }) }, index })
}
