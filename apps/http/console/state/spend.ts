// The model's use for rounds without a new result, in the last hour, by agent. Pure.
// A round counts if an intervention names it as evidence, in shadow too. The first
// round of a streak had a new result and does not count, so the sums are a lower bound.
// Money is that of settled reservations, by round. Its records and those of the
// activity come in any order. Money of at most `consoleRoundsPricedMax` rounds is kept.
// A settled attempt that was written twice counts once.

import { limits } from '../../../../shared/contract/limits.ts'
import type {
  BudgetSettled,
  InterventionRaised,
  Message,
} from '../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { touch } from '../../../../shared/lib/recency.ts'
import { tokensOf, usdOf } from '../../../../shared/view/totals.ts'
import type { ConsoleState, Spend, SpendBy } from '../page/console-state.ts'
import { entryOf, type Hour, minutesOf, summed, sumsByKey } from './hour.ts'
import type { OpenTurn, TurnSpend } from './open-turns.ts'

/** Rounds of an open turn whose tokens the console keeps, and rounds whose money it keeps. */
export const consoleRoundsKept = 64
const consoleRoundsPricedMax = 20_000

/** `to`: the sum of a round that counts. */
type RoundMoney = { usd: number; isPriced: boolean; attempts: string[]; to: SpendBy | undefined }

export type SpendFold = { hour: Hour<SpendBy>; money: Map<string, RoundMoney> }

export function beginSpend(): SpendFold {
  return { hour: new Map(), money: new Map() }
}

const nothing: Spend = { turns: 0, rounds: 0, tokens: 0, usd: 0, priced: 0 }

/** Adds a record of the activity. `turn`: its turn; the rounds that count are marked in it. */
export function addToSpend(
  fold: SpendFold,
  message: Message,
  { turn, time }: { turn: OpenTurn | undefined; time: Milliseconds },
): void {
  if (turn === undefined) return
  const { spend } = turn
  if (message.type === 'model-answered') keepTokens(spend, message.round, tokensOf(message.usage))
  if (message.type !== 'intervention-raised') return
  const names = [turn.agent] as const
  for (const round of idleRoundsOf(message)) {
    const tokens = spend.tokens.get(round)
    if (tokens === undefined || spend.idle.has(round)) continue
    const entry = entryOf(fold.hour, { time, names, others: ['others'] as const }, ([agent]) => ({
      agent,
      ...nothing,
    }))
    if (spend.count === 0) entry.turns += 1
    spend.idle.add(round)
    spend.count += 1
    entry.rounds += 1
    entry.tokens += tokens
    priceInto(moneyOf(fold, { ...turn, round }), entry)
  }
}

function keepTokens({ tokens, idle }: TurnSpend, round: number, used: number): void {
  tokens.set(round, used)
  const [oldest] = tokens.keys()
  if (tokens.size <= consoleRoundsKept || oldest === undefined) return
  tokens.delete(oldest)
  idle.delete(oldest)
}

function idleRoundsOf({ intervention }: InterventionRaised): number[] {
  if (intervention.ordinary || intervention.rule === 'guard') return []
  const rounds = [...new Set(intervention.evidence.map(({ round }) => round))].sort((a, b) => a - b)
  return rounds.length > 1 ? rounds.slice(1) : rounds
}

/** Adds a settled reservation. */
export function addSettledToSpend(fold: SpendFold, settled: BudgetSettled): void {
  const money = moneyOf(fold, settled)
  const usd = usdOf(settled)
  if (usd === null || money.attempts.includes(settled.attempt)) return
  money.attempts.push(settled.attempt)
  money.usd += usd
  if (money.to !== undefined) {
    money.to.usd += usd
    if (!money.isPriced) money.to.priced += 1
  }
  money.isPriced = true
}

function priceInto(money: RoundMoney, entry: SpendBy): void {
  money.to = entry
  entry.usd += money.usd
  if (money.isPriced) entry.priced += 1
}

type RoundPlace = { conversation: string; turn: number; round: number }

function moneyOf({ money }: SpendFold, { conversation, turn, round }: RoundPlace): RoundMoney {
  const key = JSON.stringify([conversation, turn, round])
  const known = money.get(key)
  if (known !== undefined) return known
  const made: RoundMoney = { usd: 0, isPriced: false, attempts: [], to: undefined }
  touch(money, key, made, consoleRoundsPricedMax)
  return made
}

/** The use in the hour before `now`, the most tokens first. */
export function shownSpend({ hour }: SpendFold, now: Milliseconds): ConsoleState['spend'] {
  const all = sumsByKey(minutesOf(hour, now), nothing).sort(
    (a, b) => b.tokens - a.tokens || b.rounds - a.rounds,
  )
  const total = all.reduce<Spend>((sum, one) => summed(sum, one), nothing)
  return { total, by: all.slice(0, limits.consolePairsMax) }
}
