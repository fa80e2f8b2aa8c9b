// The number of a turn for people: 1, 2, 3 in its conversation. In records a turn is the offset of
// the record that opened it.
// The oldest turn of which the log has anything is 1. The history names each turn,
// also those that a bundle has only as context.

import { scan } from '../../client/history/scan.ts'
import { historyPrefix, historyTurn } from '../../shared/contract/history/history-keys.ts'
import type { ConversationId, TurnId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { numbersOf } from '../../shared/view/conversation-timeline.ts'
import type { OpenLog } from './open-log.ts'

/** Undefined: the history has no such turn. */
export type NumberOf = (turn: TurnId) => number | undefined

/** `turn 3`. Without a number, its offset names it. */
export function turnText(numberOf: NumberOf, turn: TurnId): string {
  const number = numberOf(turn)
  return number === undefined ? `the turn at offset ${turn.turn}` : `turn ${number}`
}

/** The numbers of all turns of these conversations. Without an index, it reads their partitions once. */
export async function readTurnNumbers(
  log: OpenLog,
  conversations: Iterable<ConversationId>,
): Promise<NumberOf> {
  const turns = new Map([...conversations].map((id): [string, number[]] => [id, []]))
  const add = (key: string) => {
    const named = historyTurn(key)
    if (named !== undefined) turns.get(named.conversation)?.push(named.turn)
  }
  if (log.hasIndex)
    for (const id of turns.keys())
      for (const { key } of await log.bus.list({
        topic: `${log.topicPrefix}history`,
        partition: partitionOf(id, log.partitions),
        prefix: historyPrefix(id),
      }))
        add(key)
  else
    for (const partition of new Set([...turns.keys()].map((id) => partitionOf(id, log.partitions))))
      for await (const records of scan(log, { topic: 'history', partition }))
        for (const { key } of records) add(key)
  const numbers = new Map([...turns].map(([id, own]) => [id, numbersOf(own)]))
  return ({ conversation, turn }) => numbers.get(conversation)?.get(turn)
}
