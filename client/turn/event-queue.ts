// Events between a turn and the one reader of its events. Unread events are bounded (R7). Pieces of
// text are joined; too much unread text becomes a reset, because the reply comes whole at the end.
// Of too many or too large other events the oldest are dropped, never the end.

import { limits } from '../../shared/contract/limits.ts'
import type { Placed, ReasoningDelta, TextDelta, TurnEvent } from './turn-event.ts'

/**
 * Characters of streamed text that wait for the reader of a turn's events. Beyond that, text is
 * left out until the next attempt.
 */
const unreadTextCharactersMax = 8 * 1024 * 1024

export type EventQueue = {
  add(events: TurnEvent[]): void
  /** Ends the queue after the waiting events, with this error if there is one. */
  end(failure?: { error: unknown }): void
  /** The next event. `done` after the last event and after `leave`. */
  next(): Promise<IteratorResult<TurnEvent, undefined>>
  /** Drops all waiting and all further events. */
  leave(): void
}

const over = { done: true, value: undefined } as const

type Delta = (TextDelta | ReasoningDelta) & Placed

type Bounds = { charactersMax: number; eventsMax: number }

const bounds: Bounds = {
  charactersMax: unreadTextCharactersMax,
  eventsMax: limits.unreadEventsMax,
}

export function createEventQueue({ charactersMax, eventsMax }: Bounds = bounds): EventQueue {
  let waiting: TurnEvent[] = []
  let characters = 0
  /** Characters of the events that are no deltas. */
  let others = 0
  /** The round whose text is dropped until a new attempt begins. */
  let muted: number | undefined
  let ended: { failure: { error: unknown } | undefined } | undefined
  let wake = (): void => {}

  function put(event: TurnEvent): void {
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') {
      if (event.type === 'text-reset') muted = undefined
      push(event)
      return
    }
    if (muted === event.round) return
    characters += event.text.length
    if (characters > charactersMax) mute(event)
    else gather(event)
  }

  function take(): TurnEvent | undefined {
    const first = waiting.shift()
    if (first?.type === 'text-delta' || first?.type === 'reasoning-delta')
      characters -= first.text.length
    else if (first !== undefined) others -= weightOf(first)
    return first
  }

  function gather(event: Delta): void {
    const last = waiting.at(-1)
    if (last?.type === event.type && last.round === event.round)
      waiting[waiting.length - 1] = { ...event, text: last.text + event.text }
    else push(event)
  }

  function push(event: TurnEvent): void {
    waiting.push(event)
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') others += weightOf(event)
    while (waiting.length > eventsMax || (others > charactersMax && waiting.length > 1)) take()
  }

  function mute({ v, position, conversation, turn, round }: Delta): void {
    waiting = waiting.filter(({ type }) => type !== 'text-delta' && type !== 'reasoning-delta')
    waiting.push({ v, position, type: 'text-reset', conversation, turn, round })
    characters = 0
    muted = round
  }

  return {
    add(events) {
      if (ended !== undefined) return
      for (const event of events) put(event)
      wake()
    },

    end(failure) {
      ended ??= { failure }
      wake()
    },

    async next() {
      for (;;) {
        const first = take()
        if (first !== undefined) return { done: false, value: first }
        if (ended?.failure !== undefined) throw ended.failure.error
        if (ended !== undefined) return over
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },

    leave() {
      waiting = []
      ended = { failure: undefined }
      wake()
    },
  }
}

/** Characters of its large texts. */
function weightOf(event: TurnEvent): number {
  switch (event.type) {
    case 'model-answered':
      return event.calls.reduce((sum, call) => sum + call.rawArguments.length, event.text.length)
    case 'call-finished':
      return event.rawResult.length
    case 'call-denied':
      return event.text.length + event.rawArguments.length
    case 'tool-started':
    case 'call-offered':
      return event.rawArguments.length
    default:
      return 0
  }
}
