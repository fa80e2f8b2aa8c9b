// The newest turns of a conversation: the message that opened each, and its end.
// Those of a fork are also the turns that it shares with its origins.
// Reads: the history for the turns, conversation-events for their openings, activity for their ends.

import { rangeSince } from '../../shared/bus/range.ts'
import { onPath } from '../../shared/contract/history/history-path.ts'
import type { ConversationId, MessageId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { type ConversationView, reduce, viewOf } from '../../shared/view/conversation-view.ts'
import { endOnly, pastRecords } from '../edge/past-records.ts'
import { needOptions } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import { openingOf, type Place } from '../turn/opening.ts'
import { historyOf, newestIn, turnsInHistory } from './history.ts'

/**
 * `conversation`: that of the turn; of a fork, it may be an origin. `agent`, `text`: of the message.
 * Times are those of the log. `end` undefined: it is open.
 */
export type ConversationTurn = {
  conversation: ConversationId
  turn: number
  messageId: MessageId
  agent: string
  text: string
  since: Milliseconds
  end: (TurnFinished & { at: Milliseconds }) | undefined
}

/**
 * `limit`: 20 by default. `ends` false: without the ends, which are read from the activity since the
 * oldest of these turns.
 */
export type TurnsOptions = { limit?: number; ends?: boolean }

/**
 * The newest first, at most `limit` and `limits.recentMessageIdsMax`. Empty: no such conversation.
 * Throws `usage` for bad options.
 */
export async function turnsOf(
  place: Place,
  conversation: ConversationId,
  options: TurnsOptions = {},
): Promise<ConversationTurn[]> {
  const asked = { code: 'usage', subject: 'turns' } as const
  needOptions(options, { ...asked, example: '{ limit: 20 }' })
  refuseUnknownKeys(options, ['limit', 'ends'], asked)
  const { limit = 20, ends: withEnds = true } = options
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw usageError(`limit is ${shown(limit)}; must be a whole number from 1 on`)
  const all = await turnsWithShared(place, conversation)
  const turns: ConversationTurn[] = []
  for (const { conversation: of, turn } of all.slice(0, Math.min(limit, turnsMax))) {
    const opening = await openingOf(place, turn)
    if (opening === undefined) continue
    const { messageId, agent, text, time: since } = opening
    turns.push({ conversation: of, turn, messageId, agent, text, since, end: undefined })
  }
  if (!withEnds) return turns
  const view = await endsSince(place, turns)
  return turns.map((one) => ({ ...one, end: view.turns.get(one.turn)?.end }))
}

/** As many as a conversation remembers message ids. */
const turnsMax = limits.recentMessageIdsMax

/** As turnsInHistory, at most `turnsMax`. */
export async function newestTurns(place: Place, conversation: ConversationId): Promise<number[]> {
  const turns = await turnsInHistory(place, conversation)
  return turns.slice(0, turnsMax)
}

/**
 * The newest first, without turns that a later message replaced. Turns of origins that were deleted
 * are left out.
 */
async function turnsWithShared(
  place: Place,
  conversation: ConversationId,
): Promise<Pick<ConversationTurn, 'conversation' | 'turn'>[]> {
  const { own, origins } = await historyOf(place, conversation)
  const entries = [...own]
  for (const origin of origins) {
    const shared = await historyOf(place, origin.conversation)
    entries.push(...shared.own.filter(({ turn }) => turn <= origin.turn))
  }
  const path = onPath(entries, newestIn(entries))
  const turns = new Map(path.map((entry) => [entry.turn, entry.conversation]))
  return [...turns]
    .map(([turn, of]) => ({ conversation: of, turn }))
    .sort((a, b) => b.turn - a.turn)
}

async function endsSince(
  { bus, topicPrefix, partition }: Place,
  turns: readonly ConversationTurn[],
): Promise<ConversationView> {
  const view = viewOf([])
  if (turns.length === 0) return view
  const since = Math.min(...turns.map((one) => one.since))
  const range = await rangeSince(bus, { topic: `${topicPrefix}activity`, partition }, since)
  const conversations = new Set(turns.map((one) => one.conversation))
  for await (const record of pastRecords(bus, range, conversations, endOnly))
    reduce(view, { topic: 'activity', ...record })
  return view
}
