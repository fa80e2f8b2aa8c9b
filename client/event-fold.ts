// The records of a conversation as events. Pure: records in, events out.
// EVENT-FOLD-1. The events are a function of the activity, in its order. Parts only bring text
//     earlier: with or without them, the deltas of a round add up to the text of its response.
// EVENT-FOLD-2. Parts are preliminary: a new attempt of a round voids its streamed text. A text
//     without its beginning is skipped. No record gives its events twice.

import type { MessageOf, Part } from '../shared/contract/messages.ts'
import { unreachable } from '../shared/contract/stage.ts'
import { inputValue } from './call-input.ts'
import type { Activity } from './edge.ts'
import type { Received } from './feed.ts'
import {
  type CallInput,
  type TextDelta,
  type TurnEvent,
  type TurnEventBody,
  turnEventVersion,
} from './turn-event.ts'

export type EventFold = {
  /** The position behind all events so far. */
  readonly position: string
  /** The turn and the round whose response is streamed now. */
  readonly streaming: { turn: number; round: number } | undefined
  activity(received: Received<Activity>): TurnEvent[]
  part(part: Part): TurnEvent[]
}

/** Parts that are kept until their round is known: activity may come later. */
const earlyPartsMax = 256

/** Ids of activity records that are remembered. A repeat comes close behind its original. */
const seenMax = 10_000

/** `next`: the number of the next part of `attempt`. `replaced`: earlier attempts of the round. */
type Streaming = {
  turn: number
  round: number
  attempt: string | undefined
  next: number
  text: string
  reasoning: number
  replaced: Set<string>
}

const unknownInput: CallInput = { arguments: '', input: null }

export function createEventFold(): EventFold {
  const seen = new Set<string>()
  let offset = 0
  let streaming: Streaming | undefined
  let early: Part[] = []
  /** No part of this round, or of one before it, counts any more. */
  let closed = { turn: -1, round: 0 }
  let answered: { turn: number; round: number; inputs: Map<number, CallInput> } | undefined

  function position(): string {
    if (streaming === undefined || (streaming.text === '' && streaming.reasoning === 0))
      return `${offset}`
    const { text, reasoning, attempt } = streaming
    return `${offset}.${text.length}.${reasoning}.${attempt}`
  }

  function placed(body: TurnEventBody): TurnEvent {
    return { v: turnEventVersion, position: position(), ...body }
  }

  /** The event of a record. Events in front of it keep the position before the record. */
  function recorded(at: number, body: TurnEventBody): TurnEvent {
    offset = at
    return placed(body)
  }

  function isRepeat(id: string | undefined): boolean {
    if (id === undefined) return false
    if (seen.has(id)) return true
    if (seen.size >= seenMax) seen.clear()
    seen.add(id)
    return false
  }

  function activity({ id, offset: at, message }: Received<Activity>): TurnEvent[] {
    if (isRepeat(id)) return []
    switch (message.type) {
      case 'round-started':
        return begin(at, message)
      case 'model-retry':
        return retry(at, message)
      case 'model-answered':
        return answer(at, message)
      case 'call-rejected':
      case 'tool-started':
      case 'call-offered':
        return [recorded(at, { ...message, ...inputOf(message) })]
      case 'turn-finished':
        if (streaming?.turn === message.turn) streaming = undefined
        closed = { turn: message.turn, round: Number.POSITIVE_INFINITY }
        return [recorded(at, message)]
      case 'turn-started':
      case 'budget-reached':
      case 'intervention-raised':
      case 'calls-waiting':
      case 'guard-verdict-given':
      case 'approval-pending':
      case 'approval-decided':
      case 'call-finished':
        return [recorded(at, message)]
      default:
        return unreachable(message)
    }
  }

  function begin(at: number, message: MessageOf<'round-started'>): TurnEvent[] {
    const { turn, round } = message
    streaming = { turn, round, attempt: undefined, ...unstreamed, replaced: new Set() }
    const parts = early
    early = []
    return [recorded(at, message), ...parts.flatMap(part)]
  }

  function retry(at: number, message: MessageOf<'model-retry'>): TurnEvent[] {
    const { conversation, attempt } = message
    const isOfStream = isStreaming(message)
    const reset =
      isOfStream && streaming?.attempt === attempt ? replace(undefined, conversation) : []
    if (isOfStream) streaming?.replaced.add(attempt)
    return [...reset, recorded(at, message)]
  }

  function isStreaming({ turn, round }: { turn: number; round: number }): boolean {
    return streaming?.turn === turn && streaming.round === round
  }

  /** Keeps EVENT-FOLD-1: the rest of the text, or all of it again. */
  function answer(at: number, message: MessageOf<'model-answered'>): TurnEvent[] {
    const { conversation, turn, round, attempt, text, textBytes } = message
    const events: TurnEvent[] = []
    if (isStreaming(message) && streaming !== undefined) {
      if (streaming.attempt !== attempt) events.push(...replace(attempt, conversation))
      const streamed = streaming.text
      const isCut = Buffer.byteLength(text) < textBytes
      const fits = text.startsWith(streamed) || (isCut && streamed.startsWith(text))
      if (!fits) events.push(...replace(attempt, conversation))
      const rest = text.slice(streaming.text.length)
      if (rest !== '') {
        streaming.text += rest
        events.push(placed({ type: 'text-delta', conversation, turn, round, text: rest }))
      }
      streaming = undefined
    }
    const calls = message.calls.map((call) => ({ ...call, input: inputValue(call) }))
    const inputs = calls.map(({ ordinal, input, arguments: sent }): [number, CallInput] => [
      ordinal,
      { arguments: sent, input },
    ])
    answered = { turn, round, inputs: new Map(inputs) }
    closed = { turn, round }
    return [...events, recorded(at, { ...message, calls })]
  }

  function inputOf(call: { turn: number; round: number; ordinal: number }): CallInput {
    if (answered?.turn !== call.turn || answered.round !== call.round) return unknownInput
    return answered.inputs.get(call.ordinal) ?? unknownInput
  }

  /** Voids the text of the attempt that is streamed, and goes on with this one. */
  function replace(attempt: string | undefined, conversation: string): TurnEvent[] {
    if (streaming === undefined) return []
    const { turn, round, attempt: before, text, reasoning, replaced } = streaming
    const wasStreamed = text !== '' || reasoning > 0
    if (before !== undefined && before !== attempt) replaced.add(before)
    streaming = { turn, round, attempt, ...unstreamed, replaced }
    if (!wasStreamed) return []
    return [placed({ type: 'text-reset', conversation, turn, round })]
  }

  function part(received: Part): TurnEvent[] {
    const { conversation, turn, round, attempt, i, events } = received
    if (streaming === undefined || !isStreaming(received)) {
      const isAhead = turn > closed.turn || (turn === closed.turn && round > closed.round)
      if (isAhead && early.length < earlyPartsMax) early.push(received)
      return []
    }
    if (streaming.replaced.has(attempt)) return []
    const reset = streaming.attempt === attempt ? [] : replace(attempt, conversation)
    if (streaming.next !== i) return reset
    streaming.next += 1
    const deltas: TurnEvent[] = []
    for (const { type, text } of deltasOf(events)) {
      if (type === 'text-delta') streaming.text += text
      else streaming.reasoning += text.length
      deltas.push(placed({ type, conversation, turn, round, text }))
    }
    return [...reset, ...deltas]
  }

  return {
    get position() {
      return position()
    },
    get streaming() {
      return streaming && { turn: streaming.turn, round: streaming.round }
    },
    activity,
    part,
  }
}

const unstreamed = { next: 0, text: '', reasoning: 0 }

type Delta = { type: TextDelta['type'] | 'reasoning-delta'; text: string }

/** Neighbours of one kind are joined. */
function deltasOf(events: Part['events']): Delta[] {
  const deltas: Delta[] = []
  for (const { kind, text } of events) {
    if ((kind !== 'text' && kind !== 'refusal' && kind !== 'reasoning') || text === '') continue
    const type = kind === 'reasoning' ? 'reasoning-delta' : 'text-delta'
    const last = deltas.at(-1)
    if (last?.type === type) last.text += text
    else deltas.push({ type, text })
  }
  return deltas
}
