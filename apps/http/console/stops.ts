// The calls and turns that were stopped in the last hour, by agent and rule, with an upper bound of
// the savings. Pure.
// CONSOLE-STOPS-1. Savings are an upper bound: the rounds up to the turn's limit of calls, each with
//     the tokens of its last response. Only the first stop of a turn by the loop-detector counts.
// CONSOLE-STOPS-2. Memory: one entry for each pair of agent and rule in each of 60 minutes, at most
//     `limits.consolePairsMax` pairs in a minute. Further pairs are one pair, `others`.

import { approvalGuard, withdrawnCode } from '../../../shared/contract/approval-guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { isStop, type OpenTurn } from './open-turns.ts'
import type { ConsoleState, Stops, StopsBy } from './page/console-state.ts'

const minuteMs = 60_000
const minutesKept = 60

/** By the number of the minute, then by agent and rule. */
export type StopsFold = Map<number, Map<string, StopsBy>>

export function beginStops(): StopsFold {
  return new Map()
}

const nothing: Stops = { calls: 0, turns: 0, reminders: 0, rounds: 0, tokens: 0 }

/** Adds a record of the activity. `turn`: its turn before this record. */
export function addToStops(
  fold: StopsFold,
  message: Message,
  { turn, time }: { turn: OpenTurn | undefined; time: Milliseconds },
): void {
  const agent = turn?.agent ?? 'unknown'
  const add = (rule: string, counts: Partial<Stops>) => addTo(fold, time, { agent, rule, counts })
  switch (message.type) {
    case 'call-rejected':
      return add('validator', { calls: 1 })
    case 'guard-verdict-given': {
      for (const { verdict, code } of message.verdicts)
        if (verdict === 'reject' && code !== withdrawnCode)
          add(guardText(message, code), { calls: 1 })
      return
    }
    case 'intervention-raised': {
      const { rule, ordinary } = message.intervention
      if (message.shadow || ordinary) return
      if (!isStop(message)) return add(rule, { reminders: 1 })
      if (turn?.isStopped !== true) add(rule, { turns: 1, ...savingsOf(turn) })
      return
    }
    case 'turn-finished':
      if (message.cap !== null) add(`limit of ${message.cap}`, { turns: 1 })
      return
  }
}

function guardText({ guard, answer }: { guard: string; answer: string }, code: string): string {
  if (guard === approvalGuard)
    return code === 'approval.rejected' ? "a person's no" : 'nobody answered'
  return answer === 'verdicts' ? `guard ${guard}` : `guard ${guard} (silent)`
}

/** Keeps CONSOLE-STOPS-1. */
function savingsOf(turn: OpenTurn | undefined): { rounds: number; tokens: number } {
  if (turn === undefined) return { rounds: 0, tokens: 0 }
  const callsOfRound = Math.max(1, turn.calls / Math.max(1, turn.round))
  const rounds = Math.ceil(turn.callsLeft / callsOfRound)
  return { rounds, tokens: rounds * turn.tokens }
}

type Added = { agent: string; rule: string; counts: Partial<Stops> }

function addTo(fold: StopsFold, time: Milliseconds, { agent, rule, counts }: Added): void {
  const minute = Math.floor(time / minuteMs)
  const pairs = fold.get(minute) ?? new Map<string, StopsBy>()
  fold.set(minute, pairs)
  const isFull = pairs.size >= limits.consolePairsMax
  const given = JSON.stringify([agent, rule])
  const names = isFull && !pairs.has(given) ? { agent: 'others', rule: 'others' } : { agent, rule }
  const key = JSON.stringify([names.agent, names.rule])
  pairs.set(key, { ...names, ...summed(pairs.get(key) ?? nothing, { ...nothing, ...counts }) })
  if (fold.size > minutesKept + 1) forgetBefore(fold, Math.max(...fold.keys()) - minutesKept)
}

function forgetBefore(fold: StopsFold, first: number): void {
  for (const minute of fold.keys()) if (minute < first) fold.delete(minute)
}

function summed(one: Stops, other: Stops): Stops {
  return {
    calls: one.calls + other.calls,
    turns: one.turns + other.turns,
    reminders: one.reminders + other.reminders,
    rounds: one.rounds + other.rounds,
    tokens: one.tokens + other.tokens,
  }
}

/** The stops of the hour before `now`. */
export function shownStops(fold: StopsFold, now: Milliseconds): ConsoleState['stops'] {
  const last = Math.floor(now / minuteMs)
  const by = new Map<string, StopsBy>()
  const minutes = Array.from({ length: minutesKept }, (_, place) => {
    const minute = last - minutesKept + 1 + place
    const pairs = [...(fold.get(minute) ?? [])]
    for (const [key, one] of pairs) by.set(key, { ...one, ...summed(by.get(key) ?? nothing, one) })
    const { calls, turns } = pairs.reduce((sum, [, one]) => summed(sum, one), nothing)
    return { at: minute * minuteMs, calls, turns }
  })
  const all = [...by.values()].sort(
    (a, b) => b.turns - a.turns || b.calls - a.calls || b.reminders - a.reminders,
  )
  return {
    total: all.reduce(summed, nothing),
    by: all.slice(0, limits.consolePairsMax),
    minutes,
  }
}
