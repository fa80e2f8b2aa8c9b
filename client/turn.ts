// A turn as a program sees it: what happens in it, its end, and a way to cancel it. It listens,
// then sends the message, then listens until the end. Nothing is decided here: a turn that nobody
// listens to any more goes on all the same.

import { limits } from '../shared/contract/limits.ts'
import type { TurnFinished } from '../shared/contract/messages.ts'
import type { Clock } from '../shared/lib/clock.ts'
import type { Edge, Question } from './edge.ts'
import { createEventQueue } from './event-queue.ts'
import { createTurnEvents, type TurnEvent } from './turn-events.ts'

/**
 * One message and what comes of it. To iterate yields its events up to and including
 * `turn-finished`, once; who leaves the loop early only stops listening. Text is streamed from the
 * moment the loop begins; all other events are kept from the beginning on.
 */
export type Turn = AsyncIterable<TurnEvent> & {
  readonly conversation: string
  readonly messageId: string
  /**
   * How the turn ended, also where it ended without an answer: see `outcome` and `class`. Rejects,
   * as the loop does, only when Weir cannot go on or was closed; the turn goes on when its data
   * folder is opened again, and the same message id hears its end.
   */
  readonly finished: Promise<TurnFinished>
  /**
   * Asks for the end of the turn, with what runs in it, or takes the message out of the queue.
   * Resolves when that is written down; that it ended is an event like any other.
   */
  cancel(): Promise<void>
}

/**
 * `isNew`: no message was sent under this id before. `over`: called once, when nothing more is
 * heard.
 */
export type AskOptions = {
  edge: Edge
  clock: Clock
  question: Question
  isNew: boolean
  signal: AbortSignal | undefined
  over: () => void
}

/** `fail`: ends the hearing with an error, unless the turn is over. */
export function askTurn({
  edge,
  clock,
  question,
  isNew,
  signal,
  over,
}: AskOptions): Turn & { fail(error: unknown): void } {
  const { conversation, messageId } = question
  const events = createTurnEvents(messageId)
  const queue = createEventQueue()
  const { promise: finished, resolve, reject } = Promise.withResolvers<TurnFinished>()
  finished.catch(() => {}) // who only reads the events hears of it there
  const stops: (() => void)[] = []
  let isRead = false
  let text: Promise<() => void> | undefined
  let isWaitingForCalls = false
  let isOver = false

  const sent = send()
  sent.catch(fail)
  const onAbort = (): void => {
    cancel().catch(fail)
  }
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })

  async function send(): Promise<void> {
    await undefined // who iterates at once has said so by then, and misses no text
    await listen(
      edge.hear(conversation, { hear: (heard) => take(events.activity(heard)), failed: fail }),
    )
    if (isRead) await hearText()
    const earlier = isNew ? undefined : await edge.earlierAnswer(question)
    if (earlier !== undefined) take(events.activity({ id: undefined, message: earlier }))
    else if (!isOver) await edge.send(question)
  }

  /** Once, however often it is called. */
  function hearText(): Promise<unknown> {
    text ??= listen(
      edge.hearParts(conversation, {
        hear: ({ message }) => take(events.part(message)),
        failed: fail,
      }),
    )
    return text
  }

  async function listen(listening: Promise<() => void>): Promise<() => void> {
    const stop = await listening
    if (isOver) stop()
    else stops.push(stop)
    return stop
  }

  function take(happened: TurnEvent[]): void {
    if (isOver) return
    queue.add(happened)
    if (events.finished === undefined) return
    resolve(events.finished)
    if (events.isOver) end()
    else waitForCalls()
  }

  /** Bounded, in case that what ran is never heard of again. */
  function waitForCalls(): void {
    if (isWaitingForCalls) return
    isWaitingForCalls = true
    const waitMs = question.agent.settings.policy.graceMs + limits.shutdownGraceMs
    stops.push(clock.after(waitMs, () => take(events.endNow())))
  }

  function fail(error: unknown): void {
    if (isOver) return
    if (events.finished !== undefined) {
      take(events.endNow()) // the turn is over all the same; what became of its last calls nobody will hear
      return
    }
    reject(error)
    end({ error })
  }

  function end(failure?: { error: unknown }): void {
    isOver = true
    queue.end(failure)
    signal?.removeEventListener('abort', onAbort)
    for (const stop of stops) stop()
    over()
  }

  async function cancel(): Promise<void> {
    await sent
    if (!isOver) await edge.cancel(question)
  }

  async function leave(): Promise<IteratorReturnResult<undefined>> {
    queue.leave()
    const stop = await text?.catch(() => undefined)
    stop?.()
    return { done: true, value: undefined }
  }

  return {
    conversation,
    messageId,
    finished,
    cancel,
    fail,
    [Symbol.asyncIterator]() {
      if (isRead)
        throw new Error(
          'the events of a turn can be read once: read them in one loop, and wait for `finished` elsewhere',
        )
      isRead = true
      sent.then(() => isOver || hearText()).catch(fail)
      return { next: queue.next, return: leave }
    },
  }
}
