// Events between a turn that hears them and the one reader that takes them. What the reader has not
// taken yet is bounded (R7): pieces of text are put together, and where too much of it waits the
// reader gets a reset instead, because the reply comes whole at the end. Of too many other events
// the oldest go: whoever is ten thousand behind can look into the log, and the end, the newest of
// all, is never left out.

import { limits } from '../shared/contract/limits.ts'
import type { ReasoningDelta, TextDelta, TurnEvent } from './turn-events.ts'

export type EventQueue = {
  add(events: TurnEvent[]): void
  /** After what waits comes nothing more, or this error. */
  end(failure?: { error: unknown }): void
  /** The next event. `done` after the last one, and after the reader has left. */
  next(): Promise<IteratorResult<TurnEvent, undefined>>
  /** Drops what waits and what comes. */
  leave(): void
}

const over = { done: true, value: undefined } as const

type Bounds = { charactersMax: number; eventsMax: number }

const bounds: Bounds = {
  charactersMax: limits.unreadTextCharactersMax,
  eventsMax: limits.unreadEventsMax,
}

export function createEventQueue({ charactersMax, eventsMax }: Bounds = bounds): EventQueue {
  let waiting: TurnEvent[] = []
  let characters = 0
  /** The round whose text is left out until a new attempt begins. */
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
    return first
  }

  function gather(event: TextDelta | ReasoningDelta): void {
    const last = waiting.at(-1)
    if (last?.type === event.type && last.round === event.round)
      waiting[waiting.length - 1] = { ...last, text: last.text + event.text }
    else push(event)
  }

  function push(event: TurnEvent): void {
    waiting.push(event)
    if (waiting.length > eventsMax) take()
  }

  function mute({ conversation, turn, round }: TextDelta | ReasoningDelta): void {
    waiting = waiting.filter(({ type }) => type !== 'text-delta' && type !== 'reasoning-delta')
    waiting.push({ type: 'text-reset', conversation, turn, round })
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
