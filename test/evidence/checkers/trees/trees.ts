// The places of conversations in their trees, read from their ids and from the reservations of their calls.
// Written a second time, on purpose: it checks Weir's own reading.

import type { BudgetReserved } from '../../../../shared/contract/messages.ts'
import { type Evidence, type LoggedMessage, recordsOf } from '../../evidence.ts'

export type Caller = { conversation: string; turn: number; round: number; ordinal: number }

/** The call that began the conversation. Undefined: it is a root. */
export function callerOf(conversation: string): Caller | undefined {
  if (!conversation.startsWith('call/')) return undefined
  const parts = conversation.slice('call/'.length).split('/')
  const [turn, round, ordinal] = parts.splice(-3).map((part) => Number.parseInt(part, 10))
  if (turn === undefined || round === undefined || ordinal === undefined) return undefined
  return { conversation: parts.join('/'), turn, round, ordinal }
}

/** The conversations from this one up to the root. */
export function lineOf(conversation: string): string[] {
  const caller = callerOf(conversation)
  return caller === undefined ? [conversation] : [conversation, ...lineOf(caller.conversation)]
}

type Reserved = LoggedMessage<'budget-reserved'>
/** The place of a call that began a child: its reservation, and the time until which it holds. */
export type Place = { reserved: Reserved; until: number }

/** The reservations of children, by the names of their calls. */
export function reservationsOfChildren(evidence: Evidence): Map<string, Reserved[]> {
  const all = recordsOf(evidence, 'budget-reserved')
  const ofChildren = all.filter(({ message }) => message.children > 0)
  return Map.groupBy(ofChildren, ({ message }) => message.attempt)
}

/** Of a start at this time. A further reservation of the same call extends a place that holds. */
export function placeAt(reservations: readonly Reserved[], at: number): Place | undefined {
  const reserved = reservations.findLast(({ time }) => time <= at)
  if (reserved === undefined) return undefined
  const place = { reserved, until: reserved.message.expiresAt }
  for (const { time, message } of reservations)
    if (time > at && time < place.until) place.until = Math.max(place.until, message.expiresAt)
  return place
}

/** The amount of a cap in a reservation. Undefined: there is no such cap. */
export function amountOf(
  { budgets }: BudgetReserved,
  wanted: 'running' | 'children',
): number | undefined {
  return budgets.find(({ unit, window }) => window === 'tree' && unit === wanted)?.hard ?? undefined
}
