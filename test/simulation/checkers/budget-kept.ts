// Attempts under a budget answer only if their reservation is granted, and together they pass the
// budget by less than one reservation. The evidence is the topic `budgets`, folded again here, and
// the usage of the answers.

import type { BudgetReserved } from '../../../shared/contract/messages.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

export const budgetKept: Checker = {
  name: 'budget-kept',
  check(evidence) {
    const reservations = new Map<string, BudgetReserved>()
    for (const { message } of evidence.all('budgets', 'budget-reserved'))
      reservations.set(message.attempt, message)
    const granted = grantedIn(evidence)
    const findings: Finding[] = []
    const used = new Map<string, number>()
    const answered = new Set<string>()
    for (const { message } of evidence.all('model-requests', 'attempt-finished')) {
      const { attempt, conversation, usage } = message
      const reservation = reservations.get(attempt)
      if (reservation === undefined || answered.has(attempt)) continue
      answered.add(attempt)
      if (!granted.has(attempt))
        findings.push({
          problem: `${attempt} answered without a granted reservation`,
          conversation,
        })
      const tokens = Object.values(usage).reduce((sum, count) => sum + count, 0)
      const { tenant } = reservation
      used.set(tenant, (used.get(tenant) ?? 0) + tokens)
    }
    for (const [tenant, tokens] of used) {
      const own = [...reservations.values()].filter((one) => one.tenant === tenant)
      const bound = Math.max(...own.map((one) => one.tokens))
      const hard = Math.max(...own.map(({ budgets }) => hardOf(budgets)))
      if (tokens >= hard + bound)
        findings.push({ problem: `${tenant} used ${tokens} tokens of ${hard}, ${bound} in one` })
    }
    return findings
  },
}

/** The attempts with a grant, by the records before each reservation only. */
function grantedIn(evidence: Evidence): Set<string> {
  const granted = new Set<string>()
  for (let partition = 0; partition < evidence.partitions; partition++) {
    const held = new Map<string, BudgetReserved>()
    let used = 0
    for (const { record, message } of evidence.of('budgets', partition)) {
      for (const [attempt, { expiresAt, tokens }] of held) {
        if (record.time < expiresAt) continue
        held.delete(attempt)
        used += tokens
      }
      if (message?.type === 'budget-reserved' && !held.has(message.attempt)) {
        const open = [...held.values()].reduce((sum, { tokens }) => sum + tokens, 0)
        if (used + open >= hardOf(message.budgets)) continue
        held.set(message.attempt, message)
        granted.add(message.attempt)
      } else if (message?.type === 'budget-settled' && held.delete(message.attempt))
        used += message.tokens
      else if (message?.type === 'budget-released') held.delete(message.attempt)
    }
  }
  return granted
}

/** The operator of the simulation sets one budget, of one tenant. */
function hardOf([budget]: BudgetReserved['budgets']): number {
  return budget?.hard ?? Number.POSITIVE_INFINITY
}
