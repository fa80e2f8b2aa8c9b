// Facts about guests that several checkers need, joined from the topics.

import type { MessageOf } from '../../../../shared/contract/messages.ts'
import { type Evidence, recordsOf, roundKey, turnKey } from '../../evidence.ts'

export type Timed<M> = { time: number; message: M }

export type KeyedRound = { conversation: string; turnKey: string; key: string }

export type GuestFacts = {
  /** The turn's name in its turn-started, by conversation and turn. */
  nameOf(at: { conversation: string; turn: number }): string | undefined
  /** The rounds with this key in the turns of this name. */
  roundsOf(of: KeyedRound): Timed<MessageOf<'round-proposed'>>[]
  /** The rounds with the call ids of this key in the turns of this name. */
  twinsOf(of: KeyedRound): Timed<MessageOf<'round-proposed'>>[]
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
  const names = new Map(
    recordsOf(evidence, 'turn-started').map(({ message }) => [turnKey(message), message.messageId]),
  )
  const ends = new Map<string, number>()
  const stops = new Map<string, number>()
  for (const { time, message } of recordsOf(evidence, 'turn-finished')) {
    if (!ends.has(turnKey(message))) ends.set(turnKey(message), time)
    const { conversation, messageId, cap, class: of } = message
    const name = JSON.stringify([conversation, messageId])
    if ((cap !== null || of === 'cancelled') && !stops.has(name)) stops.set(name, time)
  }
  const seen = new Set<string>()
  const all = recordsOf(evidence, 'round-proposed').filter(
    ({ message }) => seen.size < seen.add(roundKey(message)).size,
  )
  const groupedBy = (nameOf: (key: string) => string) =>
    Map.groupBy(all, ({ message }) =>
      JSON.stringify([
        message.conversation,
        names.get(turnKey(message)),
        nameOf(message.response.attempt),
      ]),
    )
  const proposed = groupedBy((key) => key)
  const twins = groupedBy(idsIn)
  const outcomes = new Map<string, Timed<MessageOf<'round-outcome'>>>()
  for (const record of recordsOf(evidence, 'round-outcome'))
    if (!outcomes.has(roundKey(record.message))) outcomes.set(roundKey(record.message), record)
  return {
    nameOf: (at) => names.get(turnKey(at)),
    roundsOf: ({ conversation, turnKey, key }) =>
      proposed.get(JSON.stringify([conversation, turnKey, key])) ?? [],
    twinsOf: ({ conversation, turnKey, key }) =>
      twins.get(JSON.stringify([conversation, turnKey, idsIn(key)])) ?? [],
    outcomeOf: (at) => outcomes.get(roundKey(at)),
    endOf: (at) => ends.get(turnKey(at)),
    stopOf: ({ conversation, turnKey }) => stops.get(JSON.stringify([conversation, turnKey])),
  }
}

/** The part of a key that the ids of the calls decide: 16 digits after the 32 of the words. */
function idsIn(key: string): string {
  return /^[0-9a-f]{32}([0-9a-f]{16})\.\d+$/.exec(key)?.[1] ?? key
}
