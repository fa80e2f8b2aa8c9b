// The events of a turn as the events of the Responses API, with the numbers of their order.
// A number depends on the records of the turn only. A record takes `step` numbers,
// and a piece of text has the number of its last character. Any process gives the same numbers.
// A text that a repeated request voids is not streamed again. `output_text.done`
// has the whole text of the round. Reasoning after the first text of a round is left out.
// A response ends where its turn waits for its client or for persons only. The
// response to their answers has the rest of the turn, with numbers that go on.

import type { TurnEvent } from '../../../../client/weir.ts'
import {
  begunEvents,
  endedEvent,
  messageItem,
  reasoningItem,
} from '../../../../shared/wire/openai-responses/answer.ts'
import {
  itemAdded,
  itemDone,
  partEvents,
} from '../../../../shared/wire/openai-responses/item-events.ts'
import { createTurnCalls, type Event } from '../chat/turn-calls.ts'
import type { TurnFold } from '../chat/turn-chunks.ts'
import { turnData } from '../chat/turn-data.ts'
import {
  beginCalls,
  deniedCall,
  finishedCall,
  offeredCall,
  pendingCalls,
  startedCall,
} from './call-events.ts'
import {
  endOfResponse,
  type OutputItem,
  type ResponseHead,
  type ResponseObject,
  responseObject,
} from './response-object.ts'

export type ResponseEvent = { type: string; sequence_number: number; [field: string]: unknown }

const itemOf = { message: messageItem, reasoning: reasoningItem }
type TextKind = keyof typeof itemOf

/** More than twice the characters of a round's text, and than the events of a record. */
const step = 2 ** 26
/** The number of the first event of a text, after that of its round. */
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
  return numbered(0, begunEvents(response))
}

/** `place`: of its round. `base`: the number of that. `whole`: as it was streamed. */
type OpenText = {
  kind: TextKind
  place: string
  item: OutputItem
  index: number
  base: number
  whole: string
  isVoid: boolean
}

/**
 * The texts of a turn. `output`: the items of the response, which its calls share. `hasText`: the
 * round has a text besides its reasoning. `last`: the last whole text of the model.
 */
type Texts = {
  output: OutputItem[]
  roundBase: number
  open: OpenText | undefined
  hasText: boolean
  last: string
}

export function createResponseFold(head: ResponseHead): TurnFold<ResponseEvent> {
  const seen = createTurnCalls()
  const output: OutputItem[] = []
  const calls = beginCalls(output, seen)
  const texts: Texts = { output, roundBase: 0, open: undefined, hasText: false, last: '' }
  let records = 0

  function eventsOf(event: TurnEvent, base: number): ResponseEvent[] {
    switch (event.type) {
      case 'round-started':
        texts.roundBase = base
        texts.hasText = false
        return []
      case 'text-delta':
        return streamed(texts, 'message', event)
      case 'reasoning-delta':
        return streamed(texts, 'reasoning', event)
      case 'text-reset':
        if (texts.open !== undefined) texts.open.isVoid = true
        return []
      case 'model-answered':
        return answered(texts, event, base)
      case 'approval-pending':
        return numbered(base, pendingCalls(calls, event))
      case 'tool-started':
        return numbered(base, startedCall(calls, event))
      case 'call-offered':
        return numbered(base, offeredCall(calls, event))
      case 'call-denied':
        return numbered(base, deniedCall(calls, event))
      case 'call-finished':
        return numbered(base, finishedCall(calls, event))
      case 'turn-finished': {
        const before = finished(texts, event, base)
        const end = endOfResponse(event, turnData(event, seen), head, output)
        return [...before, ...numbered(base + step - 1, [endedEvent(end)])]
      }
      default:
        return []
    }
  }

  return {
    add(event) {
      if (!preliminary.has(event.type)) records += 1
      const events = eventsOf(event, records * step)
      seen.see(event)
      return events
    },
    paused: seen.paused,
    start() {
      output.length = 0 // the response before this one has them
      calls.indexes.clear()
      return []
    },
    pause() {
      const response = responseObject(head, { status: 'completed', output: [...output] })
      return numbered((records + 1) * step - 1, [endedEvent(response)])
    },
  }
}

function numbered(first: number, given: object[]): ResponseEvent[] {
  return given.map((event, at) => {
    const { type, ...rest } = event as { type: string }
    return { type, sequence_number: first + at, ...rest }
  })
}

function streamed(
  texts: Texts,
  kind: TextKind,
  event: Event<'text-delta' | 'reasoning-delta'>,
): ResponseEvent[] {
  if (kind === 'reasoning' && texts.hasText) return []
  const before = kind === 'message' ? closeReasoning(texts) : []
  if (kind === 'message') texts.hasText = true
  const { open, events } = reachText(texts, kind, event)
  return [...before, ...events, ...delta(open, event.text)]
}

function answered(texts: Texts, event: Event<'model-answered'>, base: number): ResponseEvent[] {
  const before = closeReasoning(texts)
  if (texts.open === undefined && event.text === '') return before
  const { open, events } = reachText(texts, 'message', event)
  const rest = delta(open, event.text.slice(open.whole.length))
  return [...before, ...events, ...rest, ...closeText(texts, open, event.text, base)]
}

function finished(texts: Texts, event: Event<'turn-finished'>, base: number): ResponseEvent[] {
  const before = closeReasoning(texts)
  if (texts.open !== undefined) before.push(...closeText(texts, texts.open, '', base))
  if (event.reply === '' || event.reply.trim() === texts.last.trim()) return before
  texts.roundBase = base + 8
  const { open, events } = reachText(texts, 'message', { turn: event.turn, round: 0 })
  const whole = delta(open, event.reply)
  return [...before, ...events, ...whole, ...closeText(texts, open, event.reply, base + step - 8)]
}

/** The open text, or a new one with its events. */
function reachText(
  texts: Texts,
  kind: TextKind,
  { turn, round }: { turn: number; round: number },
): { open: OpenText; events: ResponseEvent[] } {
  if (texts.open !== undefined) return { open: texts.open, events: [] }
  const place = `${turn}_${round}`
  const item = itemOf[kind]('', place, 'in_progress')
  const base = texts.roundBase + firstOf[kind]
  const index = texts.output.push(item) - 1
  const open: OpenText = { kind, place, item, index, base, whole: '', isVoid: false }
  texts.open = open
  const added = itemAdded({ ...item, content: [] }, index)
  return { open, events: numbered(base, [added, partEvents(item, index).begun]) }
}

function delta(open: OpenText, piece: string): ResponseEvent[] {
  if (piece === '' || open.isVoid) return []
  open.whole += piece
  const event = partEvents(open.item, open.index).delta(piece)
  return numbered(open.base + 1 + open.whole.length, [event])
}

/** A thought ends in front of the text of its round. */
function closeReasoning(texts: Texts): ResponseEvent[] {
  const { open } = texts
  return open?.kind === 'reasoning'
    ? closeText(texts, open, open.whole, open.base + step / 2 - 8)
    : []
}

function closeText(texts: Texts, open: OpenText, whole: string, first: number): ResponseEvent[] {
  const { kind, place, index } = open
  const item = itemOf[kind](whole, place, 'completed')
  texts.output[index] = item
  texts.open = undefined
  if (kind === 'message') texts.last = whole
  return numbered(first, [...partEvents(item, index).ended, itemDone(item, index)])
}
