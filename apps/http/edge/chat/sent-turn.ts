// A message that is sent, with the events of its turn.

import type { Turn, TurnEvent, Weir } from '../../../../client/weir.ts'

/**
 * Resolves when the message is written. The reader is open before that, so it misses no text and
 * reads nothing of the log again. `isUnread`: nobody will read, so nothing is kept for a reader.
 */
export async function sentTurn(
  weir: Pick<Weir, 'ask'>,
  question: Parameters<Weir['ask']>[0],
  { isUnread = false } = {},
): Promise<AsyncIterable<TurnEvent>> {
  const turn: Turn = weir.ask(question)
  if (isUnread) {
    await turn.sent
    return turn
  }
  const reader = turn.events[Symbol.asyncIterator]()
  await turn.sent
  return { [Symbol.asyncIterator]: () => reader }
}
