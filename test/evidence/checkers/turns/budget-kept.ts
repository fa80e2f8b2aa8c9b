// Requests under a budget pass it by less than one reservation, also of gateways and fronts that are
// killed. The grants are decided again here from the topic `budgets`. No attempt with a reservation
// answers without a grant, no reservation without one is settled, and the usage of the answers stays within the
// amount and one reservation. If the faults of processes are known, no attempt answers without a
// reservation either while a budget is in force.

import type { BudgetReserved } from '../../../../shared/contract/messages.ts'
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

/** All budgets of a run are one: of the tenant, for a day or a month, in tokens. */
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
    const held = new Map<string, { reserved: BudgetReserved; span: string }>()
    const spans = new Map<string, number>()
    for (const record of records) {
      if (record.topic !== 'budgets' || record.partition !== partition) continue
      const { message, time } = record
      for (const [attempt, { reserved }] of held)
        if (time >= reserved.expiresAt) use(attempt, reserved.tokens)
      switch (message?.type) {
        case 'budget-reserved': {
          if (granted.has(message.attempt) || refused.has(message.attempt)) break
          const hard = hardOf(message)
          const open = [...held.values()].reduce((sum, { reserved }) => sum + reserved.tokens, 0)
          const span = spanOf(message, time)
          const used = (spans.get(span) ?? 0) + open
          if (used >= hard) {
            refused.add(message.attempt)
            break
          }
          held.set(message.attempt, { reserved: message, span })
          granted.set(message.attempt, message)
          break
        }
        case 'budget-settled': {
          const { attempt, tokens } = message
          const bound = granted.get(attempt)?.tokens
          if (refused.has(attempt) || bound === undefined)
            report(record, `${attempt} settled a reservation without a grant`)
          else if (tokens > bound) report(record, `${attempt} used ${tokens} tokens of ${bound}`)
          use(attempt, tokens)
          break
        }
        case 'budget-released':
          // A writer that reads no decision in time releases a reservation, because a grant may follow.
          if (!granted.has(message.attempt) && !refused.has(message.attempt))
            report(record, `${message.attempt} released no reservation`)
          held.delete(message.attempt)
          break
        default:
          break
      }
    }

    function use(attempt: string, tokens: number): void {
      const known = held.get(attempt)
      if (known === undefined) return // it expired, or counts already
      held.delete(attempt)
      spans.set(known.span, (spans.get(known.span) ?? 0) + tokens)
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

/** By the answers' own usage. The highest amount of the run is the bound. */
function usedTooMuch(evidence: Evidence, { granted }: Folded): Finding[] {
  const used = new Map<string, number>()
  for (const { message, time } of recordsOf(evidence, 'attempt-finished')) {
    const reserved = granted.get(message.attempt)
    if (reserved === undefined) continue
    const span = `${reserved.tenant} in ${spanOf(reserved, time)}`
    const tokens = Object.values(message.usage).reduce((sum, count) => sum + count, 0)
    used.set(span, (used.get(span) ?? 0) + tokens)
  }
  const hard = Math.max(...[...granted.values()].map(hardOf))
  const bound = Math.max(...[...granted.values()].map(({ tokens }) => tokens))
  return [...used].flatMap(([span, tokens]) =>
    tokens < hard + bound
      ? []
      : [{ problem: `${span} used ${tokens} tokens of ${hard}, at most ${bound} in one` }],
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

function hardOf({ budgets: [budget] }: BudgetReserved): number {
  return budget?.hard ?? Number.POSITIVE_INFINITY
}

/** The day or the month in which the reservation counts. */
function spanOf({ budgets: [budget] }: BudgetReserved, time: number): string {
  return new Date(time).toISOString().slice(0, budget?.id.includes('/month/') ? 7 : 10)
}
