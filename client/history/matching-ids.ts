// Finds the newest conversations with a turn that meets conditions: walks back over the activity and
// folds each turn until its beginning.

import { messageOf } from '../../shared/codec/message-of.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { remember } from '../../shared/lib/recency.ts'
import { turnSummary } from '../../shared/view/summary.ts'
import { addToTurn, beginTurn, type TurnView } from '../../shared/view/turn-view.ts'
import {
  anyTime,
  inWindow,
  newestRecords,
  type ReadableTopics,
  type Window,
} from './newest-records.ts'
import { matches, type Where } from './turn-filter.ts'

/** Turns whose beginning was passed, kept for records that were delivered twice. */
const passedMax = 100_000

/**
 * At most `max` ids, by the newest matching turn. Stops there, otherwise at the begin of the log.
 * Memory: the turns that are open at one place of the walk.
 */
export async function matchingIds(
  log: ReadableTopics,
  where: Where,
  max: number,
  window: Window = anyTime,
): Promise<Set<ConversationId>> {
  const matched = new Set<ConversationId>()
  const passed = new Set<string>()
  const open = new Map<string, { conversation: ConversationId; turn: TurnView }>()
  const accepts = inWindow(window)
  for await (const record of newestRecords(log, 'activity')) {
    const { key: conversation, value, time } = record
    if (matched.size >= max || (time < window.since && open.size === 0)) return matched
    if (!accepts(record)) continue
    const message = messageOf(value)
    if (matched.has(conversation) || message === undefined || !('turn' in message)) continue
    const id = JSON.stringify([conversation, message.turn])
    if (passed.has(id)) continue
    const { turn } = open.get(id) ?? { turn: beginTurn(Number(message.turn), time) }
    addToTurn(turn, { message, time, topic: 'activity' }, 'turn')
    if (message.type !== 'turn-started') {
      open.set(id, { conversation, turn })
      continue
    }
    open.delete(id)
    remember(passed, id, passedMax)
    if (matches(where, turnSummary(turn))) matched.add(conversation)
  }
  // The log no longer has their beginning, or they are messages that opened no turn.
  for (const { conversation, turn } of open.values())
    if (matched.size < max && matches(where, turnSummary(turn))) matched.add(conversation)
  return matched
}
