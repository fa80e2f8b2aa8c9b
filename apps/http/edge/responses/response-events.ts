// The events of a turn as the events of the Responses API, with the numbers of their order.
// RESPONSE-EVENTS-1. A number depends on the records of the turn only. A record takes `step` numbers,
//     and a piece of text has the number of its last character. Any process gives the same numbers.
// RESPONSE-EVENTS-2. A text that a repeated request voids is not streamed again. `output_text.done`
//     has the whole text of the round.

import type { TurnEvent } from '../../../../client/weir.ts'
import {
  type CallItem,
  callId,
  callItem,
  type MessageItem,
  messageItem,
  type OutputItem,
  partOf,
} from './output-items.ts'
import {
  endOfResponse,
  type ResponseHead,
  type ResponseObject,
  responseObject,
} from './response-object.ts'

export type ResponseEvent = { type: string; sequence_number: number; [field: string]: unknown }

/** More than the characters of a round's text, and than the events of a record. */
const step = 2 ** 26

const preliminary = new Set(['text-delta', 'reasoning-delta', 'text-reset', 'turn-waiting'])

/** The events of one turn, up to its end. */
export async function* responseEvents(
  events: AsyncIterable<TurnEvent>,
  head: ResponseHead,
): AsyncGenerator<ResponseEvent> {
  const fold = createFold(head)
  yield* fold.begin()
  for await (const event of events) {
    yield* fold.add(event)
    if (event.type === 'turn-finished') return
  }
}

/** The response of a finished turn. Undefined: the events have no end. */
export async function wholeResponse(
  events: AsyncIterable<TurnEvent>,
  head: ResponseHead,
): Promise<ResponseObject | undefined> {
  let last: ResponseEvent | undefined
  for await (const event of responseEvents(events, head)) last = event
  return last?.response as ResponseObject | undefined
}

type OpenText = { item: MessageItem; index: number; sent: number; isVoid: boolean }

function createFold(head: ResponseHead) {
  const output: OutputItem[] = []
  const calls = new Map<string, number>()
  let records = 0
  let roundBase = 0
  let text: OpenText | undefined
  let lastText = ''

  /** Numbers the events of a record. `from`: the first number behind its base. */
  function* numbered(base: number, from: number, given: object[]): Generator<ResponseEvent> {
    for (const [at, event] of given.entries()) {
      const { type, ...rest } = event as { type: string }
      yield { type, sequence_number: base + from + at, ...rest }
    }
  }

  function* openText(turn: number, round: number): Generator<ResponseEvent, OpenText> {
    const item = messageItem(`msg_${turn}_${round}`, 'in_progress', '')
    const open: OpenText = { item, index: output.length, sent: 0, isVoid: false }
    output.push(item)
    text = open
    yield* numbered(roundBase, 1, [
      {
        type: 'response.output_item.added',
        output_index: open.index,
        item: { ...item, content: [] },
      },
      { type: 'response.content_part.added', ...placeOf(open), part: partOf('') },
    ])
    return open
  }

  function* delta(open: OpenText, piece: string): Generator<ResponseEvent> {
    if (piece === '') return
    open.sent += piece.length
    const event = {
      type: 'response.output_text.delta',
      ...placeOf(open),
      delta: piece,
      logprobs: [],
    }
    yield* numbered(roundBase, 2 + open.sent, [event])
  }

  function* closeText(open: OpenText, whole: string, base: number): Generator<ResponseEvent> {
    const item = messageItem(open.item.id, 'completed', whole)
    output[open.index] = item
    text = undefined
    lastText = whole
    yield* numbered(base, 0, [
      { type: 'response.output_text.done', ...placeOf(open), text: whole, logprobs: [] },
      { type: 'response.content_part.done', ...placeOf(open), part: partOf(whole) },
      { type: 'response.output_item.done', output_index: open.index, item },
    ])
  }

  /** Empty if the call is there already. */
  function openCall(item: CallItem): object[] {
    if (calls.has(item.id)) return []
    const index = output.length
    calls.set(item.id, index)
    output.push(item)
    const place = { output_index: index, item_id: item.id }
    return [
      { type: 'response.output_item.added', output_index: index, item },
      { type: 'response.mcp_call.in_progress', ...place },
      { type: 'response.mcp_call_arguments.done', ...place, arguments: item.arguments },
    ]
  }

  function closeCall(item: CallItem): object[] {
    const index = calls.get(item.id) ?? 0
    output[index] = item
    const end = item.status === 'completed' ? 'completed' : 'failed'
    return [
      { type: `response.mcp_call.${end}`, output_index: index, item_id: item.id },
      { type: 'response.output_item.done', output_index: index, item },
    ]
  }

  function* add(event: TurnEvent): Generator<ResponseEvent> {
    if (!preliminary.has(event.type)) records += 1
    const base = records * step
    switch (event.type) {
      case 'round-started':
        roundBase = base
        return
      case 'text-delta': {
        const open: OpenText = text ?? (yield* openText(event.turn, event.round))
        if (!open.isVoid) yield* delta(open, event.text)
        return
      }
      case 'text-reset':
        if (text !== undefined) text.isVoid = true
        return
      case 'model-answered': {
        if (text === undefined && event.text === '') return
        const open: OpenText = text ?? (yield* openText(event.turn, event.round))
        if (!open.isVoid) yield* delta(open, event.text.slice(open.sent))
        yield* closeText(open, event.text, base)
        return
      }
      case 'tool-started':
        yield* numbered(base, 0, openCall(callItem(event, { status: 'in_progress' })))
        return
      case 'call-rejected': {
        const end = { status: 'failed', error: event.text } as const
        yield* numbered(base, 0, [
          ...openCall(callItem(event, { status: 'in_progress' })),
          ...closeCall(callItem(event, end)),
        ])
        return
      }
      case 'call-finished': {
        const known = output.find((item) => item.id === callId(event))
        const call = { ...event, arguments: known?.type === 'mcp_call' ? known.arguments : '' }
        const { result } = event
        const isOk = event.status === 'ok'
        yield* numbered(base, 0, [
          ...openCall(callItem(call, { status: 'in_progress' })),
          ...closeCall(
            callItem(
              call,
              isOk ? { status: 'completed', output: result } : { status: 'failed', error: result },
            ),
          ),
        ])
        return
      }
      case 'turn-finished': {
        if (text !== undefined) yield* closeText(text, '', base)
        if (event.reply !== '' && event.reply.trim() !== lastText.trim()) {
          roundBase = base + 8
          const open: OpenText = yield* openText(event.turn, 0)
          yield* delta(open, event.reply)
          yield* closeText(open, event.reply, base + step / 2)
        }
        yield* numbered(base, step - 1, [endOfResponse(event, head, output)])
      }
    }
  }

  return {
    add,
    begin: () => {
      const response = responseObject(head, { status: 'in_progress', output: [] })
      return numbered(0, 0, [
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ])
    },
  }
}

function placeOf({ item, index }: OpenText): object {
  return { output_index: index, content_index: 0, item_id: item.id }
}
