// A turn as a program sees it: events, end, and a way to cancel. It listens, then sends
// the message, then listens until the end. It decides nothing: the turn continues without it.

import type { ConversationId, MessageId } from '../../shared/contract/ids.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import type { CallTypes } from '../define/call-types.ts'
import { endOnly } from '../edge/past-records.ts'
import type { CallPlace, EventOf, TurnEvent, WholeCall } from './turn-event.ts'
import { type OutputSchema, outputOf } from './turn-output.ts'
import { openTurnReader, type ReaderOptions, type TurnReader } from './turn-reader.ts'

/**
 * One message and its events, up to and including `turn-finished`. Each loop reads all events from
 * the start of the turn, however late it begins. Leaving a loop early only stops listening, and a
 * turn that nobody reads decodes its end only.
 */
/** `Output`: the value that a question with `output` requires. `Call`: the calls of its agent. */
export type Turn<Output = unknown, Call extends CallTypes = CallTypes> = AsyncIterable<
  EventOf<Call>
> & {
  readonly conversation: ConversationId
  readonly messageId: MessageId
  /** Resolves when the message is written. Rejects if it cannot be. */
  readonly sent: Promise<void>
  /** The same events as the loop over the turn. */
  readonly events: AsyncIterable<EventOf<Call>>
  /**
   * The model's text of all rounds as it is streamed. It goes on with the new text after a
   * text-reset; `events` shows which text is void.
   */
  readonly textStream: AsyncIterable<string>
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
  /** The whole arguments and the whole result of a call. Undefined: the log has no such call. */
  call(place: CallPlace): Promise<WholeCall | undefined>
  /** The whole text of the result of a call. Undefined: it has none yet. */
  result(place: CallPlace): Promise<string | undefined>
  /**
   * Requests the end of the turn and of its running tools, or removes the message from the queue.
   * Resolves when the request is written. The end itself comes as an event.
   */
  cancel(): Promise<void>
}

/** `isNew`: the id was never sent before. `onOver`: called once, when listening ends. */
export type AskOptions = Omit<ReaderOptions, 'beginning'> & {
  isNew: boolean
  signal: AbortSignal | undefined
  /** The schema of the reply. Undefined: it is text. */
  output?: OutputSchema<unknown> | undefined
}

/** `fail`: ends the events with an error, unless the turn is over. */
export function askTurn({
  edge,
  clock,
  question,
  isNew,
  signal,
  output: schema,
  onOver,
}: AskOptions): Turn & { fail(error: unknown): void } {
  const { conversation, messageId } = question
  const { promise: finished, resolve, reject } = Promise.withResolvers<TurnFinished>()
  const output =
    schema === undefined ? finished.then(({ reply }): unknown => reply) : outputOf(finished, schema)
  output.catch(() => {}) // a program that does not read it
  finished.catch(() => {}) // a program that reads only the events gets the error there
  const readers = new Set<TurnReader>()
  /** The offset in the activity before the turn, once it is known. */
  const { promise: beginning, resolve: beginAt, reject: failBeginning } = withOffset()
  let stop = (): void => {}
  let end: { finished: TurnFinished } | { error: unknown } | undefined
  let isOver = false

  const sent = send()
  sent.catch(fail)
  const onAbort = (): void => {
    cancel().catch(fail)
  }
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })

  async function send(): Promise<void> {
    await undefined // a loop that starts at once opens its reader first, and misses no text
    const listening = await edge.onActivity(
      conversation,
      {
        onRecord({ message }) {
          if (message.type === 'turn-finished' && message.messageId === messageId) finish(message)
        },
        onFailure: fail,
      },
      endOnly,
    )
    stop = listening.stop
    if (end !== undefined) stop()
    await Promise.all([...readers].map((reader) => reader.listening))
    const earlier = isNew ? undefined : await edge.earlierAnswer(question)
    beginAt(earlier?.from ?? listening.from)
    if (earlier?.finished !== undefined) finish(earlier.finished)
    else if (end === undefined) await edge.send(question)
  }

  function finish(record: TurnFinished): void {
    if (end !== undefined) return
    end = { finished: record }
    stop()
    resolve(record)
    endIfUnread()
  }

  function fail(error: unknown): void {
    if (end === undefined) {
      end = { error }
      stop()
      failBeginning(error)
      reject(error)
    }
    for (const reader of readers) reader.fail(error)
    endIfUnread()
  }

  function endIfUnread(): void {
    if (isOver || end === undefined || readers.size > 0) return
    isOver = true
    signal?.removeEventListener('abort', onAbort)
    onOver()
  }

  async function cancel(): Promise<void> {
    await sent
    if (end === undefined) await edge.cancel(question)
  }

  function read(): AsyncIterator<TurnEvent, undefined> {
    const reader = openTurnReader({
      edge,
      clock,
      question,
      beginning,
      onOver() {
        readers.delete(reader)
        endIfUnread()
      },
    })
    readers.add(reader)
    if (end !== undefined && 'error' in end) reader.fail(end.error)
    return reader
  }

  async function wholeCall(place: CallPlace): Promise<WholeCall | undefined> {
    await sent
    return edge.wholeCall(conversation, place)
  }

  const events = { [Symbol.asyncIterator]: read }
  return {
    conversation,
    messageId,
    sent,
    events,
    textStream: { [Symbol.asyncIterator]: () => textOf(events) },
    finished,
    output,
    call: wholeCall,
    result: async (place) => (await wholeCall(place))?.rawResult ?? undefined,
    cancel,
    fail,
    [Symbol.asyncIterator]: read,
  }
}

function withOffset(): PromiseWithResolvers<number> {
  const beginning = Promise.withResolvers<number>()
  beginning.promise.catch(() => {}) // a turn without a reader
  return beginning
}

async function* textOf(events: AsyncIterable<TurnEvent>): AsyncGenerator<string, undefined> {
  for await (const event of events) if (event.type === 'text-delta') yield event.text
}
