// Maps the server-sent events of the Responses API to part events. Owns: the content of an event,
// the end of the stream and its validity. Does not own: HTTP (providers.ts), the item of an event
// (stream.ts), the content of an item (items.ts), which source of a call's arguments counts
// (accumulator).
//
// Servers send everything up to four times. It is emitted once, and again
// only if it differs.
// Argument bytes without an item get a separate index and are never
// dropped (I1.1).
// Provider-run and unknown items are never calls.
// A call closes at the end of the response, if the server calls it
// complete and its sources prove no loss (isContradicted in items.ts).

import { limits } from '../../contract/limits.ts'
import type { PartEvent, Stop } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { meaningOf } from '../../transcript/finish-reasons.ts'
import { type AnswerKind, openAnswer, spoil as spoilAnswer } from '../answer-reader.ts'
import type { SentEvent } from '../event-stream.ts'
import type { ExactValues } from '../exact-json.ts'
import type { Failed } from '../exchange.ts'
import { brokenStream } from '../faults/provider-errors.ts'
import { errorIn, faultOf } from '../faults/sent-errors.ts'
import { shortReason } from '../faults/short-reason.ts'
import type { Json } from '../format.ts'
import { newIndex, partEvent, textEvents } from '../part-events.ts'
import { metadataEvents } from '../response-metadata.ts'
import { addArguments, allArguments, argumentText, closeCall, endItem, type Item } from './items.ts'
import {
  ending,
  findCall,
  findItem,
  implicitItem,
  itemAdded,
  itemDone,
  knownItem,
  type Place,
  placeOf,
  type ResponseStream,
  type SentItem,
  wholeItem,
} from './stream.ts'
import { addPiece, endPart } from './texts.ts'
import { responsesUsage } from './usage.ts'

export const responseAnswers: AnswerKind<ResponseStream> = {
  begin: ({ secret, model = '' }) => ({
    ...openAnswer(secret),
    model,
    items: [],
    id: '',
    incomplete: undefined,
    hasRefusal: false,
  }),
  whole: wholeEvents,
  read: readEvent,
  hasEndMark: true,
  spoil,
  end: endResponse,
  stop: stopOf,
}

/** The body of a server that does not stream: a whole response or an error. */
function wholeEvents(whole: unknown, body: string): SentEvent[] {
  const isResponse = isObject(whole) && whole.object === 'response'
  return [{ event: null, data: isResponse ? `{"type":"response.done","response":${body}}` : body }]
}

/** The name counts only if the data has no type. */
function readEvent(
  stream: ResponseStream,
  event: Json,
  { name, exact }: { name: string | null; exact: ExactValues },
): PartEvent[] {
  const type = typeof event.type === 'string' ? event.type : (name ?? '')
  const isFull = stream.items.length >= limits.responseItemsMax
  if (isFull && stream.fault !== undefined) return [] // the search for its item takes long
  switch (type) {
    case 'response.created':
      if (beginsAnew(stream, event))
        return spoil(stream, brokenStream('another response began in the middle of this one'))
      noteResponse(stream, event.response)
      return []
    case 'response.in_progress':
    case 'response.queued':
      noteResponse(stream, event.response)
      return []
    case 'response.output_item.added':
    case 'response.output_item.done': {
      if (!isObject(event.item)) return []
      const item: SentItem = {
        sent: event.item,
        index: placeOf(event).index,
        exact,
        path: ['item'],
      }
      if (isFull) return spoil(stream, tooManyItems)
      return type.endsWith('added') ? itemAdded(stream, item) : itemDone(stream, item)
    }
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return argumentsDelta(
        stream,
        placeOf(event),
        typeof event.delta === 'string' ? event.delta : (exact(['delta']) ?? ''),
      )
    case 'response.function_call_arguments.done':
    case 'response.custom_tool_call_input.done':
      return argumentsDone(stream, event, argumentText(event, exact, []))
    case 'response.content_part.delta': // OpenRouter's name
    case 'response.output_text.delta':
    case 'response.output_text.done':
      return saidEvents(stream, 'text', event, event.delta ?? event.text)
    case 'response.refusal.delta':
    case 'response.refusal.done':
      return saidEvents(stream, 'refusal', event, event.delta ?? event.refusal)
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      return saidEvents(stream, 'reasoning', event, event.delta)
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
    case 'response.cancelled':
    case 'response.done':
      return endOfResponse(stream, type.slice('response.'.length), event, exact)
    default:
      return readOther(stream, name, event)
  }
}

/** The last events of the response. */
function endResponse(stream: ResponseStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const { id, incomplete, rawUsage } = stream
  // Calls that never got a name.
  const unnamed = stream.items.flatMap((item) =>
    item.kind === 'call' && !item.begun ? allArguments(item, '', '') : [],
  )
  const closed = stream.items.flatMap(closeCall)
  return [
    ...unnamed,
    ...closed,
    ...metadataEvents(newIndex(stream), { id, incomplete, usage: rawUsage }),
  ]
}

/** The finish reason in our terms. */
function stopOf({ finish, incomplete, hasRefusal, over, hasUnread, items }: ResponseStream): Stop {
  if (incomplete !== undefined) return meaningOf(incomplete) === 'refusal' ? 'refusal' : 'length'
  if (finish === '') return over && !hasUnread && items.length > 0 ? 'other' : 'cut'
  if (finish !== 'completed') return 'other'
  if (hasRefusal) return 'refusal'
  // The text may contain a call.
  if (items.some(({ kind, isUnfinished }) => kind === 'text' && isUnfinished)) return 'length'
  if (items.some(({ kind }) => kind === 'call')) return 'calls'
  // Two versions of a text: the right one is unknown.
  return items.some(({ streamed }) => streamed.isDisputed) ? 'other' : 'end'
}

/**
 * Events of provider-run tools, annotations, keep-alives and future types, or an error, which
 * always ends the response.
 */
function readOther(stream: ResponseStream, name: string | null, event: Json): PartEvent[] {
  const error = errorIn(event.type === undefined ? event : { choices: [], ...event }, name)
  if (error === undefined) return []
  stream.finish = 'failed'
  const { type, code } = error
  return spoil(stream, faultOf({ ...error, type: type === 'error' ? code : type }))
}

function argumentsDelta(stream: ResponseStream, place: Place, text: string): PartEvent[] {
  const item = findCall(stream, place)
  if (text === '') return []
  if (item?.kind !== 'call') return strayArguments(stream, item, text)
  // Arguments are withheld until the call has a name, so they need a bound here (R7).
  const isTooLarge = !item.begun && item.given.length > limits.roundPartsBytesMax
  return isTooLarge
    ? spoil(stream, brokenStream('the arguments of a call without a name are too large'))
    : addArguments(item, text)
}

function argumentsDone(stream: ResponseStream, event: Json, text: string): PartEvent[] {
  const item = findCall(stream, placeOf(event))
  if (item?.kind !== 'call') return text === '' ? [] : strayArguments(stream, item, text)
  item.isDone = true
  return allArguments(item, text, event.name)
}

/** No call lacks the arguments of an item that is not ours. */
function strayArguments(stream: ResponseStream, item: Item | undefined, text: string): PartEvent[] {
  return item?.kind === 'other' ? [] : [partEvent('call_arguments', newIndex(stream), text)]
}

/** A piece of a text, or the whole text. */
function saidEvents(
  stream: ResponseStream,
  kind: 'text' | 'refusal' | 'reasoning',
  event: Json,
  text: unknown,
): PartEvent[] {
  if (typeof text !== 'string' || text === '') return []
  const place = placeOf(event)
  const known = findItem(stream, place)
  if (known === undefined && stream.items.length >= limits.responseItemsMax)
    return spoil(stream, tooManyItems)
  const item = known ?? implicitItem(stream, place)
  if (item.kind === 'call' || item.kind === 'other') return []
  if (kind === 'refusal') stream.hasRefusal = true
  const key = `${kind} ${typeof event.content_index === 'number' ? event.content_index : ''}`
  return textEvents(
    kind,
    item.index,
    event.delta === undefined
      ? endPart(item.streamed, key, text)
      : addPiece(item.streamed, key, text),
  )
}

/** `word`: the status in the event's name. The status of the response counts if it is worse. */
function endOfResponse(
  stream: ResponseStream,
  word: string,
  event: Json,
  exact: ExactValues,
): PartEvent[] {
  const final = isObject(event.response) ? event.response : {}
  const finish = finishOf(word, final.status)
  noteResponse(stream, final)
  stream.finish = finish
  stream.over = true
  if (finish === 'failed' || finish === 'cancelled' || isObject(final.error))
    return spoil(
      stream,
      isObject(final.error)
        ? faultOf(final.error)
        : brokenStream(`the provider ended the response as ${finish}`),
    )

  const details = isObject(final.incomplete_details) ? final.incomplete_details : undefined
  if (finish === 'incomplete' || final.status === 'incomplete' || details !== undefined)
    stream.incomplete =
      typeof details?.reason === 'string' ? shortReason(details.reason) : 'unknown'
  const given: unknown[] = Array.isArray(final.output) ? final.output : []
  if (given.length > limits.responseItemsMax) return spoil(stream, tooManyItems)
  const output = given.flatMap((sent: unknown, index): SentItem[] => {
    return isObject(sent) ? [{ sent, index, exact, path: ['response', 'output', index] }] : []
  })
  const streamed = new Set(output.map((item) => knownItem(stream, item, () => false)))
  const events = output.flatMap((item) => finalItem(stream, item, streamed))
  // A call whose arguments ended but whose item did not.
  const open = stream.items.filter((item) => item.kind === 'call' && item.isDone && !item.ended)
  return [
    ...events,
    ...open.flatMap((item) => endItem(item, { sent: {}, text: '', raw: undefined })),
  ]
}

/** `response.done` leaves the outcome to the status. */
function finishOf(word: string, status: unknown): string {
  if (status === 'failed' || status === 'cancelled') return status
  if (word !== 'done') return word
  return status === 'incomplete' ? status : 'completed'
}

/**
 * Accepts an item that only the whole response has, unless it may have come under another id.
 * `streamed`: items of the stream that the response has under their own id.
 */
function finalItem(
  stream: ResponseStream,
  item: SentItem,
  streamed: Set<Item | undefined>,
): PartEvent[] {
  const known = knownItem(stream, item, () => true)
  const isNew =
    known === undefined &&
    stream.items.every((other) => other.type !== item.sent.type || streamed.has(other))
  if (known === undefined && !isNew) return []
  const wasEnded = known?.ended === true
  const events = known === undefined ? wholeItem(stream, item) : ending(known, item)
  const meant = known ?? stream.items.at(-1)
  if (isNew) streamed.add(meant)
  // Servers keep this status in items that an event has already ended. Without such an event the
  // status is final.
  if (meant !== undefined && item.sent.status === 'in_progress' && !wasEnded)
    meant.isUnfinished = true
  return events
}

/** A second response would double or mix the content. */
function beginsAnew({ items, id }: ResponseStream, { response }: Json): boolean {
  return (
    items.length > 0 &&
    id !== '' &&
    isObject(response) &&
    typeof response.id === 'string' &&
    shortReason(response.id) !== id
  )
}

function noteResponse(stream: ResponseStream, response: unknown): void {
  if (!isObject(response)) return
  if (typeof response.id === 'string') stream.id = shortReason(response.id)
  if (typeof response.max_output_tokens === 'number')
    stream.outputTokensMax = response.max_output_tokens
  if (!isObject(response.usage)) return
  stream.usage = responsesUsage(response.usage)
  stream.rawUsage = response.usage
}

/** Each event searches all items. */
const tooManyItems = brokenStream(`the response has more than ${limits.responseItemsMax} items`)

function spoil(stream: ResponseStream, fault: Failed): PartEvent[] {
  return spoilAnswer(stream, { ...fault, finish: stream.finish })
}
