// The records of a conversation as events. Pure: records in, events out.
// The events are a function of the activity, in its order. Parts only bring text
// earlier: with or without them, the deltas of a round add up to the text of its response.
// Parts are preliminary: a new attempt of a round voids its streamed text. A text
// without its beginning is skipped. No record gives its events twice.

import {
  argumentsOf,
  type CallArguments,
  withArguments,
} from '../../shared/contract/call/call-arguments.ts'
import type { CallId } from '../../shared/contract/ids.ts'
import type { MessageOf, Part } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { remember } from '../../shared/lib/recency.ts'
import { resultOf } from '../../shared/view/messages/call-result.ts'
import type { Activity } from '../edge/edge.ts'
import type { Received } from '../edge/feed.ts'
import {
  type TextDelta,
  type TurnEvent,
  type TurnEventBody,
  turnEventVersion,
} from './turn-event.ts'

export type EventFold = {
  /** The position after all events so far. */
  readonly position: string
  /** The turn and the round whose response is streamed now. */
  readonly streaming: { turn: number; round: number } | undefined
  activity(received: Received<Activity>): TurnEvent[]
  part(part: Part): TurnEvent[]
}

/** Parts that are kept until their round is known: activity may come later. */
const earlyPartsMax = 256

/** Ids of activity records that are remembered. A repeat comes close after its original. */
const seenMax = 10_000

export function createEventFold(): EventFold {
  const stream = createStream(placed)
  const seen = new Set<string>()
  let offset = 0
  let answered: MessageOf<'model-answered'> | undefined

  return {
    get position() {
      return `${offset}${stream.position()}`
    },
    get streaming() {
      return stream.place()
    },
    activity,
    part: stream.part,
  }

  function placed(body: TurnEventBody): TurnEvent {
    return { v: turnEventVersion, position: `${offset}${stream.position()}`, ...body }
  }

  /** The event of a record. Events in front of it keep the position before the record. */
  function recorded(at: number, body: TurnEventBody): TurnEvent {
    offset = at
    return placed(body)
  }

  function activity({ id, offset: at, message }: Received<Activity>): TurnEvent[] {
    if (id !== undefined && !remember(seen, id, seenMax)) return []
    switch (message.type) {
      case 'round-started': {
        const early = stream.begin(message)
        return [recorded(at, message), ...early.flatMap(stream.part)]
      }
      case 'model-retry':
        return [...stream.retry(message), recorded(at, message)]
      case 'model-answered':
        return answer(at, message)
      case 'call-denied':
      case 'tool-started':
      case 'call-offered':
        return [recorded(at, { ...message, ...sentArguments(message) })]
      case 'approval-pending':
        return [recorded(at, { ...message, calls: message.calls.map(withArguments) })]
      case 'turn-finished':
        stream.endTurn(message.turn)
        return [recorded(at, message)]
      case 'turn-started':
      case 'budget-reached':
      case 'model-waiting':
      case 'intervention-raised':
      case 'calls-waiting':
      case 'guard-verdict-given':
      case 'approval-decided':
        return [recorded(at, message)]
      case 'call-finished':
        return [recorded(at, { ...message, ...resultOf(message.status, message.result) })]
      default:
        return unreachable(message)
    }
  }

  function answer(at: number, message: MessageOf<'model-answered'>): TurnEvent[] {
    const rest = stream.answer(message)
    const calls = message.calls.map(withArguments)
    answered = message
    return [...rest, recorded(at, { ...message, calls })]
  }

  function sentArguments(place: Omit<CallId, 'conversation'>): CallArguments {
    const { turn, round, ordinal } = place
    const isAnswered = answered?.turn === turn && answered.round === round
    const calls = isAnswered ? answered?.calls : undefined
    return argumentsOf(calls?.find((call) => call.ordinal === ordinal))
  }
}

type Place = { turn: number; round: number }

/** `next`: the number of the next part of `attempt`. `replaced`: earlier attempts of the round. */
type Streaming = Place & {
  attempt: string | undefined
  next: number
  text: string
  reasoning: number
  replaced: Set<string>
}

/** The response that is streamed now, as text that went out. `placed` reads its position. */
function createStream(placed: (body: TurnEventBody) => TurnEvent) {
  let streaming: Streaming | undefined
  let early: Part[] = []
  /** No part of this round, or of one before it, counts any more. */
  let closed = { turn: -1, round: 0 }

  return {
    place: () => streaming && { turn: streaming.turn, round: streaming.round },

    position(): string {
      if (streaming === undefined || (streaming.text === '' && streaming.reasoning === 0)) return ''
      const { text, reasoning, attempt } = streaming
      return `.${text.length}.${reasoning}.${attempt}`
    },

    /** Returns the parts that came too early. */
    begin({ turn, round }: Place): Part[] {
      streaming = { turn, round, attempt: undefined, ...unstreamed, replaced: new Set() }
      const parts = early
      early = []
      return parts
    },

    retry({ conversation, turn, round, attempt }: MessageOf<'model-retry'>): TurnEvent[] {
      if (streaming === undefined || !isAt(streaming, { turn, round })) return []
      const reset = streaming.attempt === attempt ? replace(streaming, undefined, conversation) : []
      streaming.replaced.add(attempt)
      return reset
    },

    /** The rest of the text, or all of it again. */
    answer(message: MessageOf<'model-answered'>): TurnEvent[] {
      const { conversation, turn, round, attempt, text, textBytes } = message
      closed = { turn, round }
      if (streaming === undefined || !isAt(streaming, closed)) return []
      const events: TurnEvent[] = []
      if (streaming.attempt !== attempt) events.push(...replace(streaming, attempt, conversation))
      const streamed = streaming.text
      const isCut = Buffer.byteLength(text) < textBytes
      const fits = text.startsWith(streamed) || (isCut && streamed.startsWith(text))
      if (!fits) events.push(...replace(streaming, attempt, conversation))
      const rest = text.slice(streaming.text.length)
      if (rest !== '') {
        streaming.text += rest
        events.push(placed({ type: 'text-delta', conversation, turn, round, text: rest }))
      }
      streaming = undefined
      return events
    },

    endTurn(turn: number): void {
      if (streaming?.turn === turn) streaming = undefined
      closed = { turn, round: Number.POSITIVE_INFINITY }
    },

    part(received: Part): TurnEvent[] {
      const { conversation, turn, round, attempt, i, events } = received
      if (streaming === undefined || !isAt(streaming, received)) {
        const isAhead = turn > closed.turn || (turn === closed.turn && round > closed.round)
        if (isAhead && early.length < earlyPartsMax) early.push(received)
        return []
      }
      if (streaming.replaced.has(attempt)) return []
      const reset = streaming.attempt === attempt ? [] : replace(streaming, attempt, conversation)
      if (streaming.next !== i) return reset
      streaming.next += 1
      const deltas: TurnEvent[] = []
      for (const { type, text } of deltasOf(events)) {
        if (type === 'text-delta') streaming.text += text
        else streaming.reasoning += text.length
        deltas.push(placed({ type, conversation, turn, round, text }))
      }
      return [...reset, ...deltas]
    },
  }

  /** Voids the text of the attempt that is streamed, and goes on with this one. */
  function replace(
    stream: Streaming,
    attempt: string | undefined,
    conversation: string,
  ): TurnEvent[] {
    const { turn, round, attempt: before, text, reasoning } = stream
    const wasStreamed = text !== '' || reasoning > 0
    if (before !== undefined && before !== attempt) stream.replaced.add(before)
    Object.assign(stream, { attempt, ...unstreamed })
    return wasStreamed ? [placed({ type: 'text-reset', conversation, turn, round })] : []
  }
}

function isAt(streaming: Streaming, { turn, round }: Place): boolean {
  return streaming.turn === turn && streaming.round === round
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
