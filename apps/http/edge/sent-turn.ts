// A message that is sent, with the events of its turn.

import type { Turn, TurnEvent, Weir } from '../../../client/weir.ts'

/**
 * Resolves when the message is written. The reader is open before that, so it misses no text and
 * reads nothing of the log again. Its queue is bounded if nobody reads.
 */
export async function sentTurn(
  weir: Pick<Weir, 'ask'>,
  question: Parameters<Weir['ask']>[0],
): Promise<AsyncIterable<TurnEvent>> {
  const turn: Turn = weir.ask(question)
  const reader = turn.events[Symbol.asyncIterator]()
  await turn.sent
  return { [Symbol.asyncIterator]: () => reader }
}
