// One reader of a turn's events. It begins with the records of the log since the turn's beginning,
// and goes on with those that arrive. Its queue is bounded, so a slow reader costs a bounded memory.

import { limits } from '../../shared/contract/limits.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import type { Activity, Edge, Question } from '../edge/edge.ts'
import type { Received } from '../edge/feed.ts'
import { createEventQueue } from './event-queue.ts'
import { createPartsFirst } from './parts-first.ts'
import type { TurnEvent } from './turn-event.ts'
import { createTurnEvents } from './turn-events.ts'

/** `listening`: it misses no record that is written from then on. */
export type TurnReader = AsyncIterator<TurnEvent, undefined> & {
  readonly listening: Promise<unknown>
  /** Ends the events with an error, unless the turn is over. */
  fail(error: unknown): void
}

/** `beginning`: an offset of the activity before the turn. `onOver`: called once, at the end. */
export type ReaderOptions = {
  edge: Edge
  clock: Clock
  question: Question
  beginning: Promise<number>
  onOver: () => void
}

export function openTurnReader({
  edge,
  clock,
  question,
  beginning,
  onOver,
}: ReaderOptions): TurnReader {
  const { conversation, messageId } = question
  const events = createTurnEvents(messageId)
  const queue = createEventQueue()
  const order = createPartsFirst<Received<Activity>>()
  const stops: (() => void)[] = []
  /** No end of a stream is missed from now on. */
  let followsParts = false
  /** The records that came before the log was read up to them. Undefined: it was. */
  let held: (() => TurnEvent[])[] | undefined = []
  let isWaitingForCalls = false
  let isOver = false

  const listening = listen()
  listening.then(catchUp).catch(fail)

  async function listen(): Promise<number> {
    const activity = await edge.onActivity(conversation, {
      onRecord(received) {
        const now = followsParts ? order.activity(received) : [received]
        if (now.length > 0) receive(() => now.flatMap(events.activity))
      },
      onFailure: fail,
    })
    keep(activity.stop)
    const parts = await edge.onParts(conversation, {
      onRecord({ message }) {
        if (message.type === 'model-finished') {
          const now = order.complete(message)
          if (now.length > 0) receive(() => now.flatMap(events.activity))
        } else if (held === undefined || held.length < limits.unreadEventsMax)
          receive(() => events.part(message))
      },
      onFailure: fail,
    })
    keep(parts.stop)
    followsParts = true
    return activity.from
  }

  async function catchUp(to: number): Promise<void> {
    const from = await beginning
    if (from < to)
      for await (const received of edge.readActivity(conversation, { from, to })) {
        pass(events.activity(received))
        if (isOver) return
      }
    const waiting = held ?? []
    held = undefined
    for (const eventsOf of waiting) pass(eventsOf())
  }

  function keep(stop: () => void): void {
    if (isOver) stop()
    else stops.push(stop)
  }

  function receive(eventsOf: () => TurnEvent[]): void {
    if (held === undefined) pass(eventsOf())
    else held.push(eventsOf)
  }

  function pass(newEvents: TurnEvent[]): void {
    if (isOver) return
    queue.add(newEvents)
    if (events.isOver) end()
    else if (events.finished !== undefined) waitForCalls()
  }

  /** Bounded: a running call may never report its end. */
  function waitForCalls(): void {
    if (isWaitingForCalls) return
    isWaitingForCalls = true
    const waitMs = question.agent.settings.policy.graceMs + limits.shutdownGraceMs
    stops.push(clock.after(waitMs, () => pass(events.endNow())))
  }

  function fail(error: unknown): void {
    // With its end known, only the results of its last calls are missing.
    if (events.finished !== undefined) pass(events.endNow())
    else end({ error })
  }

  function end(failure?: { error: unknown }): void {
    if (isOver) return
    isOver = true
    queue.end(failure)
    for (const stop of stops) stop()
    onOver()
  }

  return {
    listening,
    fail,
    next: queue.next,
    async return() {
      queue.leave()
      end()
      return { done: true, value: undefined }
    },
  }
}
