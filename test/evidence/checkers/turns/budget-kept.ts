// Requests under a budget pass it by less than one reservation, also of gateways and fronts that are
// killed. The grants are decided again here from the topic `budgets`. No attempt with a reservation
// answers without a grant, no reservation without one is settled, and the usage of the answers stays within the
// amount and one reservation. If the faults of processes are known, no attempt answers without a
// reservation either while a budget is in force.

import type {
  BudgetInForce,
  BudgetReserved,
  BudgetSettled,
} from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  boundOn,
  type Checker,
  type Evidence,
  type Finding,
  type Logged,
  recordsOf,
} from '../../evidence.ts'
import { isDisturbed } from '../calls/no-start-after-stop.ts'

/** The longest time until a budget counts. */
const idleBoundMs = 1_000

type Folded = {
  granted: Map<string, BudgetReserved>
  refused: Set<string>
  findings: Finding[]
}

/** `account`: of one budget in one window. `until`, `tries`: of a child that reserves again. */
type Held = {
  reserved: BudgetReserved
  entries: { account: string; budget: BudgetInForce }[]
  until: number
  tries: number
}

/** A run has budgets of the tenant for a day or a month, and caps of trees. */
export const budgetKept: Checker = {
  name: 'budget-kept',
  rule: 'Requests under a budget pass it by less than one reservation.',
  needs: [],
  check(evidence) {
    const folded = fold(evidence)
    return [...folded.findings, ...withoutGrant(evidence, folded), ...usedTooMuch(evidence, folded)]
  },
}

/** The numbers of granted and of refused reservations. */
export function reservationsIn(evidence: Evidence): { granted: number; refused: number } {
  const { granted, refused } = fold(evidence)
  return { granted: granted.size, refused: refused.size }
}

function fold({ records, partitions }: Evidence): Folded {
  const granted = new Map<string, BudgetReserved>()
  const refused = new Set<string>()
  const findings: Finding[] = []
  for (let partition = 0; partition < partitions; partition++) {
    const held = new Map<string, Held>()
    const spent = new Map<string, number>()
    const begun = new Map<string, number>()
    for (const record of records) {
      if (record.topic !== 'budgets' || record.partition !== partition) continue
      const { message, time } = record
      for (const [attempt, { until }] of held) if (time >= until) use(attempt)
      switch (message?.type) {
        case 'budget-reserved': {
          const again = held.get(message.attempt)
          if (message.children === 0) {
            if (granted.has(message.attempt) || refused.has(message.attempt)) break
          } else if (again !== undefined) {
            again.until = Math.max(again.until, message.expiresAt)
            again.tries += 1
            break
          }
          refused.delete(message.attempt) // a further try of a child is decided anew
          const entries = message.budgets.map((budget) => {
            return { account: accountOf(message, budget, time), budget }
          })
          for (const { account } of entries) if (!begun.has(account)) begun.set(account, time)
          if (entries.some(({ account, budget }) => isUsedUp(account, budget, time))) {
            refused.add(message.attempt)
            break
          }
          held.set(message.attempt, {
            reserved: message,
            entries,
            until: message.expiresAt,
            tries: 1,
          })
          granted.set(message.attempt, message)
          break
        }
        case 'budget-settled': {
          const { attempt, tokens } = message
          const bound = granted.get(attempt)?.tokens
          if (refused.has(attempt) || bound === undefined)
            report(record, `${attempt} settled a reservation without a grant`)
          else if (tokens > bound) report(record, `${attempt} used ${tokens} tokens of ${bound}`)
          use(attempt, message)
          break
        }
        case 'budget-released':
          // A writer that reads no decision in time releases a reservation, because a grant may follow.
          if (!granted.has(message.attempt) && !refused.has(message.attempt))
            report(record, `${message.attempt} released no reservation`)
          release(message.attempt)
          break
        default:
          break
      }
    }

    /** The release of one try leaves the place of a child to the others. */
    function release(attempt: string): void {
      const known = held.get(attempt)
      if (known === undefined) return
      known.tries -= 1
      if (known.tries === 0) held.delete(attempt)
    }

    function isUsedUp(account: string, { hard, unit }: BudgetInForce, time: number): boolean {
      if (hard === null) return false
      if (unit === 'ms') return time - (begun.get(account) ?? time) >= hard
      const open = [...held.values()].reduce((sum, { reserved, entries }) => {
        return entries.some((entry) => entry.account === account)
          ? sum + amountOf(reserved, unit)
          : sum
      }, 0)
      return (spent.get(account) ?? 0) + open >= hard
    }

    function use(attempt: string, settled?: BudgetSettled): void {
      const known = held.get(attempt)
      if (known === undefined) return // it expired, or counts already
      held.delete(attempt)
      for (const { account, budget } of known.entries) {
        const { unit } = budget
        if (unit === 'running') continue
        const isMeasured = unit === 'tokens' || unit === 'usd'
        const amount = amountOf(
          isMeasured && settled !== undefined ? settled : known.reserved,
          unit,
        )
        spent.set(account, (spent.get(account) ?? 0) + amount)
      }
    }
  }
  return { granted, refused, findings }

  function report(record: Logged, problem: string): void {
    findings.push({ problem, at: addressOf(record) })
  }
}

/** Attempts that answered without a grant while a budget was in force. */
function withoutGrant(evidence: Evidence, { granted, refused }: Folded): Finding[] {
  const finished = new Set(
    recordsOf(evidence, 'attempt-finished').map(({ message }) => message.attempt),
  )
  const spans = budgetSpans(evidence)
  const boundMs = boundOn(evidence, idleBoundMs)
  return recordsOf(evidence, 'attempt-started').flatMap((started) => {
    const { attempt } = started.message
    if (!finished.has(attempt) || granted.has(attempt)) return []
    const at = addressOf(started)
    if (refused.has(attempt))
      return [{ problem: `${attempt} answered, and its reservation was refused`, at }]
    if (evidence.disturbances === undefined) return []
    const span = spans.find(
      ({ from, until }) => started.time > from + boundMs && started.time < until,
    )
    if (span === undefined) return []
    const time = { from: span.from, to: started.time }
    if (isDisturbed(evidence.disturbances, 'llm-gateway', time)) return []
    return [{ problem: `${attempt} answered without a reservation`, at }]
  })
}

/** By the answers' own usage. The highest amount of an account is its bound. */
function usedTooMuch(evidence: Evidence, { granted }: Folded): Finding[] {
  const accounts = new Map<string, { used: number; hard: number }>()
  for (const { message, time } of recordsOf(evidence, 'attempt-finished')) {
    const reserved = granted.get(message.attempt)
    if (reserved === undefined) continue
    const tokens = Object.values(message.usage).reduce((sum, count) => sum + count, 0)
    for (const budget of reserved.budgets) {
      if (budget.unit !== 'tokens') continue
      const account = `${reserved.tenant} in ${accountOf(reserved, budget, time)}`
      const { used, hard } = accounts.get(account) ?? { used: 0, hard: 0 }
      accounts.set(account, { used: used + tokens, hard: Math.max(hard, budget.hard ?? Infinity) })
    }
  }
  const bound = Math.max(...[...granted.values()].map(({ tokens }) => tokens))
  return [...accounts].flatMap(([account, { used, hard }]) =>
    used < hard + bound
      ? []
      : [{ problem: `${account} used ${used} tokens of ${hard}, at most ${bound} in one` }],
  )
}

function budgetSpans({ records }: Evidence): { from: number; until: number }[] {
  const written = records.filter(
    ({ topic, key }) => topic === 'policies' && key.startsWith('budget:'),
  )
  return written.flatMap((set, at) => {
    if (set.message === undefined) return []
    const end = written.slice(at + 1).find(({ key }) => key === set.key)
    return [{ from: set.time, until: end?.time ?? Number.POSITIVE_INFINITY }]
  })
}

/** The budget in the day, the month or the tree in which the reservation counts. */
function accountOf(
  { tree }: BudgetReserved,
  { id, window, subject }: BudgetInForce,
  time: number,
): string {
  const date = new Date(time).toISOString()
  const span = window === 'tree' ? tree : date.slice(0, window === 'month' ? 7 : 10)
  return `${id} ${subject} ${span}`.replace(/ {2,}/g, ' ')
}

/** A child reserves its place, and a model request its round. */
function amountOf(
  { tokens, usd, ...record }: BudgetReserved | BudgetSettled,
  unit: BudgetInForce['unit'],
): number {
  const children = 'children' in record ? record.children : 0
  switch (unit) {
    case 'tokens':
      return tokens
    case 'usd':
      return usd ?? 0
    case 'rounds':
      return children > 0 ? 0 : 1
    default:
      return children
  }
}
