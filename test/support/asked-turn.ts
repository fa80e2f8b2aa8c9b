// A turn as its raw activity, for tests and benches: the product reads it as events (client/turn).

import type { Activity, Edge, Question } from '../../client/edge/edge.ts'
import type { Received } from '../../client/edge/feed.ts'
import { endOnly } from '../../client/edge/past-records.ts'
import type { MessageType, TurnFinished } from '../../shared/contract/messages.ts'

type Asking = Pick<Edge, 'onActivity' | 'send'>

/**
 * Sends the message and yields the activity of its conversation, up to and including the end of its
 * turn. Skips repeated records. When `signal` aborts, it throws the reason, and the turn continues.
 */
export async function* askEdge(
  edge: Asking,
  question: Question,
  signal?: AbortSignal,
  types?: ReadonlySet<MessageType>,
): AsyncGenerator<Activity, void> {
  const { conversation, messageId } = question
  const mailbox = createMailbox(signal)
  const { stop } = await edge.onActivity(conversation, mailbox, types)
  try {
    await edge.send(question)
    const seen = new Set<string>()
    for (;;) {
      const { id, message } = await mailbox.next()
      if (id !== undefined && seen.has(id)) continue
      if (id !== undefined) seen.add(id)
      yield message
      if (message.type === 'turn-finished' && message.messageId === messageId) return
    }
  } finally {
    stop()
  }
}

/** Like `askEdge`, but resolves to the end of the turn. */
export async function replyOf(
  edge: Asking,
  question: Question,
  signal?: AbortSignal,
): Promise<TurnFinished> {
  for await (const message of askEdge(edge, question, signal, endOnly))
    if (message.type === 'turn-finished' && message.messageId === question.messageId) return message
  throw new Error('the activity ended without the end of the turn')
}

/** The records that no call of `next` has returned yet. At the end `next` throws its reason. */
function createMailbox(signal: AbortSignal | undefined) {
  const waiting: Received<Activity>[] = []
  let wake = (): void => {}
  let ended: { error: unknown } | undefined
  const end = (error: unknown): void => {
    ended ??= { error }
    wake()
  }
  signal?.addEventListener('abort', () => end(signal.reason), { once: true })
  if (signal?.aborted) end(signal.reason)

  return {
    onRecord(received: Received<Activity>): void {
      waiting.push(received)
      wake()
    },
    onFailure: end,
    async next(): Promise<Received<Activity>> {
      for (;;) {
        const first = waiting.shift()
        if (first !== undefined) return first
        if (ended !== undefined) throw ended.error
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
