// Facts about guests that several checkers need, joined from the topics.

import type { MessageOf } from '../../../shared/contract/messages.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import type { Evidence } from '../evidence.ts'

export type Timed<M> = { time: number; message: M }

export type GuestFacts = {
  /** The turn's name in its turn-started, by conversation and turn. */
  nameOf(at: { conversation: string; turn: number }): string | undefined
  /** The rounds with this key in the turns of this name. */
  roundsOf(of: {
    conversation: string
    turnKey: string
    key: string
  }): Timed<MessageOf<'round-proposed'>>[]
  outcomeOf(at: {
    conversation: string
    turn: number
    round: number
  }): Timed<MessageOf<'round-outcome'>> | undefined
  /** The time at which the turn ended. */
  endOf(at: { conversation: string; turn: number }): number | undefined
  /** The time at which a cap or a cancel first stopped a turn of this name. It never opens again. */
  stopOf(of: { conversation: string; turnKey: string }): number | undefined
}

export function guestFacts(evidence: Evidence): GuestFacts {
  const names = new Map<string, string>()
  for (const { message } of evidence.all('activity', 'turn-started'))
    names.set(turnOf(message), message.messageId)
  const ends = new Map<string, number>()
  const stops = new Map<string, number>()
  for (const { record, message } of evidence.all('activity', 'turn-finished')) {
    if (!ends.has(turnOf(message))) ends.set(turnOf(message), record.time)
    const { conversation, messageId, cap, class: of } = message
    const name = JSON.stringify([conversation, messageId])
    if ((cap !== null || of === 'cancelled') && !stops.has(name)) stops.set(name, record.time)
  }
  const proposed = new Map<string, Timed<MessageOf<'round-proposed'>>[]>()
  const seen = new Set<string>()
  for (const { record, message } of evidence.all('rounds-proposed', 'round-proposed')) {
    if (!isGuest(message.conversation) || seen.has(roundOf(message))) continue
    seen.add(roundOf(message))
    const { conversation, response } = message
    const name = JSON.stringify([conversation, names.get(turnOf(message)), response.attempt])
    proposed.set(name, [...(proposed.get(name) ?? []), { time: record.time, message }])
  }
  const outcomes = new Map<string, Timed<MessageOf<'round-outcome'>>>()
  for (const { record, message } of evidence.all('guest-events', 'round-outcome'))
    if (!outcomes.has(roundOf(message)))
      outcomes.set(roundOf(message), { time: record.time, message })
  return {
    nameOf: (at) => names.get(turnOf(at)),
    roundsOf: ({ conversation, turnKey, key }) =>
      proposed.get(JSON.stringify([conversation, turnKey, key])) ?? [],
    outcomeOf: (at) => outcomes.get(roundOf(at)),
    endOf: (at) => ends.get(turnOf(at)),
    stopOf: ({ conversation, turnKey }) => stops.get(JSON.stringify([conversation, turnKey])),
  }
}

export function turnOf({ conversation, turn }: { conversation: string; turn: number }): string {
  return JSON.stringify([conversation, turn])
}

export function roundOf(at: { conversation: string; turn: number; round: number }): string {
  return JSON.stringify([at.conversation, at.turn, at.round])
}
