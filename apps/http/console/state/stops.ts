// The calls and turns that were stopped in the last hour, by agent and rule, with an upper bound of
// the savings. Pure.
// Savings are an upper bound. Only the first stop of a turn by the
// loop-detector counts.
// Memory: one entry for each pair of agent and rule in each minute (hour.ts).

import { approvalGuard } from '../../../../shared/contract/guard/approval-guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { savingsAtMost } from '../../../../shared/view/filter/summary.ts'
import { isDeniedByCheck, isEffective, stoppingRule } from '../../../../shared/view/turn-facts.ts'
import { deniedBy } from '../../../../shared/view/verdicts.ts'
import type { ConsoleState, Stops, StopsBy } from '../page/console-state.ts'
import { entryOf, type Hour, minutesOf, summed, sumsByKey } from './hour.ts'
import type { OpenTurn } from './open-turns.ts'

/** By agent and rule. */
export type StopsFold = Hour<Omit<StopsBy, 'filters'>>

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
    case 'call-denied':
      return add('validator', { calls: 1 })
    case 'call-finished':
      if (isDeniedByCheck(message)) add('executor', { calls: 1 })
      return
    case 'guard-verdict-given':
      for (const { code } of deniedBy(message)) add(guardText(message, code), { calls: 1 })
      return
    case 'intervention-raised': {
      const { rule, action } = message.intervention
      if (!isEffective(message)) return
      if (action === 'nudge') return add(rule, { reminders: 1 })
      if (turn === undefined || stoppingRule(turn.view.facts) === undefined)
        add(rule, { turns: 1, ...(turn && savingsAtMost(turn.view, time)) })
      return
    }
    case 'turn-finished':
      if (message.cap !== null) add(`limit of ${message.cap}`, { turns: 1 })
      return
  }
}

function guardText({ guard, answer }: { guard: string; answer: string }, code: string): string {
  if (guard === approvalGuard)
    return code === 'approval.denied' ? "a person's no" : 'nobody answered'
  return answer === 'verdicts' ? `guard ${guard}` : `guard ${guard} (silent)`
}

type Added = { agent: string; rule: string; counts: Partial<Stops> }

function addTo(fold: StopsFold, time: Milliseconds, { agent, rule, counts }: Added): void {
  const given = { time, names: [agent, rule] as const, others: ['others', 'others'] as const }
  const entry = entryOf(fold, given, ([agent, rule]) => ({ agent, rule, ...nothing }))
  Object.assign(entry, summed({ ...nothing, ...counts }, entry))
}

/** The stops of the hour before `now`. */
export function shownStops(fold: StopsFold, now: Milliseconds): ConsoleState['stops'] {
  const hour = minutesOf(fold, now)
  const minutes = hour.map(({ at, entries }) => {
    const { calls, turns } = entries.reduce<Stops>((sum, [, one]) => summed(sum, one), nothing)
    return { at, calls, turns }
  })
  const all = sumsByKey(hour, nothing).sort(
    (a, b) => b.turns - a.turns || b.calls - a.calls || b.reminders - a.reminders,
  )
  const total = all.reduce<Stops>((sum, one) => summed(sum, one), nothing)
  const by = all
    .slice(0, limits.consolePairsMax)
    .map((one) => ({ ...one, filters: filtersOf(one.agent, one.rule) }))
  return { total, by, minutes }
}

/** The filters that find the conversations of a row. Null: the row has several pairs. */
function filtersOf(agent: string, rule: string): Record<string, string> | null {
  if (rule === 'others') return null
  const ofAgent: Record<string, string> = agent === 'unknown' ? {} : { agent }
  const [, cap] = /^limit of (.+)$/.exec(rule) ?? []
  if (cap !== undefined) return { ...ofAgent, cap }
  const [, guard] = /^guard (.+?)(?: \(silent\))?$/.exec(rule) ?? []
  if (guard !== undefined) return { ...ofAgent, guard }
  if (checks.has(rule)) return { ...ofAgent, call: 'denied' }
  return people.has(rule) ? { ...ofAgent, guard: approvalGuard } : { ...ofAgent, rule }
}

/** The names of rows about calls that a check denied, and that no person allowed. */
const checks = new Set(['validator', 'executor'])
const people = new Set(["a person's no", 'nobody answered'])
