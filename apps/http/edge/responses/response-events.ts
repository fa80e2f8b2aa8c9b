// The events of a turn as the events of the Responses API, with the numbers of their order.
// RESPONSE-EVENTS-1. A number depends on the records of the turn only. A record takes `step` numbers,
//     and a piece of text has the number of its last character. Any process gives the same numbers.
// RESPONSE-EVENTS-2. A text that a repeated request voids is not streamed again. `output_text.done`
//     has the whole text of the round. Reasoning behind the first text of a round is left out.
// RESPONSE-EVENTS-3. A response ends where its turn waits for its client or for persons only. The
//     response to their answers has the rest of the turn, with numbers that go on.

import type { TurnEvent } from '../../../../client/weir.ts'
import { createTurnCalls } from '../turn-calls.ts'
import type { TurnFold } from '../turn-chunks.ts'
import { createTurnEnd } from '../turn-data.ts'
import {
  type CallItem,
  callId,
  callItem,
  functionItem,
  type OutputItem,
  type TextItem,
  type TextKind,
  textForms,
  textItem,
} from './output-items.ts'
import {
  endOfResponse,
  type ResponseHead,
  type ResponseObject,
  responseObject,
} from './response-object.ts'

export type ResponseEvent = { type: string; sequence_number: number; [field: string]: unknown }

/** More than twice the characters of a round's text, and than the events of a record. */
const step = 2 ** 26
/** The number of the first event of a text, behind that of its round. */
const firstOf: Record<TextKind, number> = { reasoning: 1, message: step / 2 }

const preliminary = new Set(['text-delta', 'reasoning-delta', 'text-reset', 'turn-waiting'])

/** The response of the last event. Undefined: the events have no end. */
export async function wholeResponse(
  events: AsyncIterable<ResponseEvent[]>,
): Promise<ResponseObject | undefined> {
  let last: ResponseEvent | undefined
  for await (const some of events) last = some.at(-1)
  return last?.response as ResponseObject | undefined
}

/** The events in front of those of the turn. */
export function beginOf(head: ResponseHead): ResponseEvent[] {
  const response = responseObject(head, { status: 'in_progress', output: [] })
  return [
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.in_progress', sequence_number: 1, response },
  ]
}

/** `base`: the number of its round. `whole`: as it was streamed. */
type OpenText = {
  kind: TextKind
  item: TextItem
  index: number
  base: number
  whole: string
  isVoid: boolean
}

export function createResponseFold(head: ResponseHead): TurnFold<ResponseEvent> {
  const seen = createTurnCalls()
  const turnEnd = createTurnEnd()
  const calls = new Map<string, number>()
  const approvals = new Map<string, string>()
  /** Calls of the client: their results are input, no output. */
  const offered = new Set<string>()
  /** Arguments of the calls of the round: a call that never starts has no other event with them. */
  const sentArguments = new Map<string, string>()
  let output: OutputItem[] = []
  let records = 0
  let roundBase = 0
  let text: OpenText | undefined
  let hasText = false
  let lastText = ''

  /** Numbers the events of a record. `from`: the first number behind its base. */
  function numbered(base: number, from: number, given: object[]): ResponseEvent[] {
    return given.map((event, at) => {
      const { type, ...rest } = event as { type: string }
      return { type, sequence_number: base + from + at, ...rest }
    })
  }

  function openText(kind: TextKind, { turn, round }: { turn: number; round: number }) {
    const { prefix, part } = textForms[kind]
    const item = textItem(kind, `${prefix}_${turn}_${round}`, 'in_progress', '')
    const base = roundBase + firstOf[kind]
    const open: OpenText = { kind, item, index: output.length, base, whole: '', isVoid: false }
    output.push(item)
    text = open
    const events = numbered(base, 0, [
      {
        type: 'response.output_item.added',
        output_index: open.index,
        item: { ...item, content: [] },
      },
      { type: 'response.content_part.added', ...placeOf(open), part: part('') },
    ])
    return { open, events }
  }

  function delta(open: OpenText, piece: string): ResponseEvent[] {
    if (piece === '' || open.isVoid) return []
    open.whole += piece
    const event = {
      type: `response.${textForms[open.kind].event}.delta`,
      ...placeOf(open),
      delta: piece,
      ...(open.kind === 'message' && { logprobs: [] }),
    }
    return numbered(open.base, 1 + open.whole.length, [event])
  }

  function closeText(open: OpenText, whole: string, base: number, from = 0): ResponseEvent[] {
    const { event, part } = textForms[open.kind]
    const item = textItem(open.kind, open.item.id, 'completed', whole)
    output[open.index] = item
    text = undefined
    if (open.kind === 'message') lastText = whole
    return numbered(base, from, [
      {
        type: `response.${event}.done`,
        ...placeOf(open),
        text: whole,
        ...(open.kind === 'message' && { logprobs: [] }),
      },
      { type: 'response.content_part.done', ...placeOf(open), part: part(whole) },
      { type: 'response.output_item.done', output_index: open.index, item },
    ])
  }

  /** A thought ends in front of the text of its round. */
  function closeReasoning(): ResponseEvent[] {
    return text?.kind === 'reasoning' ? closeText(text, text.whole, text.base, step / 2 - 8) : []
  }

  function streamed(kind: TextKind, event: Event<'text-delta' | 'reasoning-delta'>) {
    if (kind === 'reasoning' && hasText) return []
    const before = kind === 'message' ? closeReasoning() : []
    if (kind === 'message') hasText = true
    const { open, events } = text === undefined ? openText(kind, event) : { open: text, events: [] }
    return [...before, ...events, ...delta(open, event.text)]
  }

  function answered(event: Event<'model-answered'>, base: number): ResponseEvent[] {
    for (const call of event.calls)
      sentArguments.set(callId({ ...event, ordinal: call.ordinal }), call.arguments)
    const before = closeReasoning()
    if (text === undefined && event.text === '') return before
    const { open, events } =
      text === undefined ? openText('message', event) : { open: text, events: [] }
    const rest = delta(open, event.text.slice(open.whole.length))
    return [...before, ...events, ...rest, ...closeText(open, event.text, base)]
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

  function startedCall(event: Event<'tool-started' | 'call-rejected'>): object[] {
    const approval = approvals.get(callId(event))
    return openCall(callItem({ ...event, approval }, { status: 'in_progress' }))
  }

  function offeredCall(event: Event<'call-offered'>): object[] {
    offered.add(callId(event))
    const item = functionItem(event)
    const place = { output_index: output.length, item_id: item.id }
    output.push(item)
    const added = { ...item, arguments: '', status: 'in_progress' }
    const { name, arguments: given } = item
    return [
      { type: 'response.output_item.added', output_index: place.output_index, item: added },
      { type: 'response.function_call_arguments.delta', ...place, delta: given },
      { type: 'response.function_call_arguments.done', ...place, name, arguments: given },
      { type: 'response.output_item.done', output_index: place.output_index, item },
    ]
  }

  function finishedCall(event: Event<'call-finished'>): object[] {
    if (offered.has(callId(event))) return []
    const approval = approvals.get(callId(event))
    const given = sentArguments.get(callId(event)) ?? ''
    const call = { ...event, arguments: given, approval }
    const { status, result } = event
    return [
      ...openCall(callItem(call, { status: 'in_progress' })),
      ...closeCall(
        callItem(
          call,
          status === 'ok'
            ? { status: 'completed', output: result }
            : { status: 'failed', error: result },
        ),
      ),
    ]
  }

  function pending(event: Event<'approval-pending'>): object[] {
    return event.calls.flatMap(({ ordinal, id, name, arguments: given, question }) => {
      approvals.set(callId({ ...event, ordinal }), id)
      const index = output.length
      const type = 'mcp_approval_request'
      output.push({ id, type, server_label: 'weir', name, arguments: question ?? given })
      return ['added', 'done'].map((end) => ({
        ...{ type: `response.output_item.${end}`, output_index: index, item: output[index] },
      }))
    })
  }

  function finished(event: Event<'turn-finished'>, base: number): ResponseEvent[] {
    const events = closeReasoning()
    if (text !== undefined) events.push(...closeText(text, '', base))
    if (event.reply !== '' && event.reply.trim() !== lastText.trim()) {
      roundBase = base + 8
      const { open, events: opening } = openText('message', { turn: event.turn, round: 0 })
      const whole = delta(open, event.reply)
      events.push(...opening, ...whole, ...closeText(open, event.reply, base, step - 8))
    }
    return [
      ...events,
      ...numbered(base, step - 1, [endOfResponse(event, turnEnd.of(event), head, output)]),
    ]
  }

  function eventsOf(event: TurnEvent, base: number): ResponseEvent[] {
    switch (event.type) {
      case 'round-started':
        roundBase = base
        hasText = false
        sentArguments.clear()
        return []
      case 'text-delta':
        return streamed('message', event)
      case 'reasoning-delta':
        return streamed('reasoning', event)
      case 'text-reset':
        if (text !== undefined) text.isVoid = true
        return []
      case 'model-answered':
        return answered(event, base)
      case 'approval-pending':
        return numbered(base, 0, pending(event))
      case 'tool-started':
        return numbered(base, 0, startedCall(event))
      case 'call-offered':
        return numbered(base, 0, offeredCall(event))
      case 'call-rejected': {
        const end = { status: 'failed', error: event.text } as const
        return numbered(base, 0, [...startedCall(event), ...closeCall(callItem(event, end))])
      }
      case 'call-finished':
        return numbered(base, 0, finishedCall(event))
      case 'turn-finished':
        return finished(event, base)
      default:
        return []
    }
  }

  return {
    add(event) {
      if (!preliminary.has(event.type)) records += 1
      seen.see(event)
      turnEnd.see(event)
      return eventsOf(event, records * step)
    },
    paused: seen.paused,
    start() {
      output = [] // the response before this one has them
      calls.clear()
      return []
    },
    pause() {
      const response = responseObject(head, { status: 'completed', output: [...output] })
      return numbered(records * step, step - 1, [{ type: 'response.completed', response }])
    },
  }
}

type Event<Type extends TurnEvent['type']> = Extract<TurnEvent, { type: Type }>

function placeOf({ item, index }: OpenText): object {
  return { output_index: index, content_index: 0, item_id: item.id }
}
