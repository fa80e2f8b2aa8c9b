// A turn as a program sees it: its events, its end, and a way to cancel it. It listens, then sends
// the message, then listens until the end. It decides nothing: the turn continues without it.

import type { ConversationId, MessageId } from '../shared/contract/ids.ts'
import { limits } from '../shared/contract/limits.ts'
import type { TurnFinished } from '../shared/contract/messages.ts'
import type { Clock } from '../shared/lib/clock.ts'
import type { Edge, Question } from './edge.ts'
import { createEventQueue } from './event-queue.ts'
import { createTurnEvents, type TurnEvent } from './turn-events.ts'
import { type OutputSchema, outputOf } from './turn-output.ts'

/**
 * One message and its events. You can iterate the events once, up to and including `turn-finished`.
 * Leaving the loop early only stops listening. Text is streamed from the start of the loop; all
 * other events are kept from the start of the turn.
 */
/** `Output`: the value that a question with `output` requires. */
export type Turn<Output = unknown> = AsyncIterable<TurnEvent> & {
  readonly conversation: ConversationId
  readonly messageId: MessageId
  /**
   * The end of the turn, with or without an answer: see `outcome` and `class`. Rejects, as the loop
   * does, only when Weir cannot go on or was closed. The turn continues when its data folder is
   * opened again; ask with the same message id to get its end.
   */
  readonly finished: Promise<TurnFinished>
  /**
   * The reply as a value, for a question with `output`. Rejects with `output.missing` if the turn
   * ends without an answer, and with `output.invalid` if only the schema's own check refuses it.
   */
  readonly output: Promise<Output>
  /**
   * Requests the end of the turn and of its running tools, or removes the message from the queue.
   * Resolves when the request is written. The end itself comes as an event.
   */
  cancel(): Promise<void>
}

/** `isNew`: the id was never sent before. `onOver`: called once, when listening ends. */
export type AskOptions = {
  edge: Edge
  clock: Clock
  question: Question
  isNew: boolean
  signal: AbortSignal | undefined
  /** The schema of the reply. Undefined: it is text. */
  output?: OutputSchema<unknown> | undefined
  /** Called once if the message opens a turn while it is listened to. */
  onStarted?: (turn: number) => void
  onOver: () => void
}

/** `fail`: ends the events with an error, unless the turn is over. */
export function askTurn({
  edge,
  clock,
  question,
  isNew,
  signal,
  output: schema,
  onStarted,
  onOver,
}: AskOptions): Turn & { fail(error: unknown): void } {
  const { conversation, messageId } = question
  const events = createTurnEvents(messageId, question.agent.settings.attempts)
  const queue = createEventQueue()
  const { promise: finished, resolve, reject } = Promise.withResolvers<TurnFinished>()
  const output =
    schema === undefined ? finished.then(({ reply }): unknown => reply) : outputOf(finished, schema)
  output.catch(() => {}) // a program that does not read it
  finished.catch(() => {}) // a program that reads only the events gets the error there
  const stops: (() => void)[] = []
  let isRead = false
  let text: Promise<() => void> | undefined
  let retries: Promise<(() => void) | undefined> | undefined
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
    await undefined // a loop that starts at once sets isRead first, and misses no text
    await listen(
      edge.onActivity(conversation, {
        onRecord: (received) => pass(events.activity(received)),
        onFailure: fail,
      }),
    )
    if (isRead) await listenToText()
    const earlier = isNew ? undefined : await edge.earlierAnswer(question)
    if (earlier !== undefined) pass(events.activity({ id: undefined, message: earlier }))
    else if (!isOver) await edge.send(question)
  }

  /** Listens once, however often it is called. */
  function listenToText(): Promise<unknown> {
    if (text === undefined) {
      text = listen(
        edge.onParts(conversation, {
          onRecord: ({ message }) => pass(events.part(message)),
          onFailure: fail,
        }),
      )
      retries = listenToRetries()
    }
    return text
  }

  /** A failure of this listening is no failure of the turn: its events are only notices. */
  function listenToRetries(): Promise<(() => void) | undefined> {
    return listen(
      edge.onFailedAttempts(conversation, {
        onRecord: ({ message }) => pass(events.attemptFailed(message)),
        onFailure: () => {},
      }),
    ).catch(() => undefined)
  }

  async function listen(listening: Promise<() => void>): Promise<() => void> {
    const stop = await listening
    if (isOver) stop()
    else stops.push(stop)
    return stop
  }

  function pass(newEvents: TurnEvent[]): void {
    if (isOver) return
    for (const event of newEvents) if (event.type === 'turn-started') onStarted?.(event.turn)
    queue.add(newEvents)
    if (events.finished === undefined) return
    resolve(events.finished)
    if (events.isOver) end()
    else waitForCalls()
  }

  /** Bounded: a running call may never report its end. */
  function waitForCalls(): void {
    if (isWaitingForCalls) return
    isWaitingForCalls = true
    const waitMs = question.agent.settings.policy.graceMs + limits.shutdownGraceMs
    stops.push(clock.after(waitMs, () => pass(events.endNow())))
  }

  function fail(error: unknown): void {
    if (isOver) return
    if (events.finished !== undefined) {
      pass(events.endNow()) // the turn is over, only the results of its last calls are missing
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
    onOver()
  }

  async function cancel(): Promise<void> {
    await sent
    if (!isOver) await edge.cancel(question)
  }

  async function leave(): Promise<IteratorReturnResult<undefined>> {
    queue.leave()
    const stop = await text?.catch(() => undefined)
    stop?.()
    retries?.then((stopRetries) => stopRetries?.()).catch(() => {})
    return { done: true, value: undefined }
  }

  return {
    conversation,
    messageId,
    finished,
    output,
    cancel,
    fail,
    [Symbol.asyncIterator]() {
      if (isRead)
        throw new Error(
          'the events of a turn can be read once: read them in one loop, and wait for `finished` elsewhere',
        )
      isRead = true
      sent.then(() => isOver || listenToText()).catch(fail)
      return { next: queue.next, return: leave }
    },
  }
}
