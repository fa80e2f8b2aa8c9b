// Catch-up: each round of a history that a judged request shows has been judged. A stopped turn
// takes no further round.

import type { Checker, Finding } from '../evidence.ts'
import { guestFacts } from './guest-facts.ts'

export const guestAllJudged: Checker = {
  name: 'guest-all-judged',
  check(evidence) {
    const facts = guestFacts(evidence)
    const findings = new Map<string, Finding>()
    for (const asked of evidence.ledger.guests.asked) {
      const { conversation, turnKey, keys, judged, mode, action } = asked
      if (!judged || mode === 'hiding' || action === 'end') continue
      for (const key of keys) {
        const rounds = facts.roundsOf({ conversation, turnKey, key })
        const isJudged = rounds.some(
          ({ message }) =>
            facts.outcomeOf(message) !== undefined || facts.endOf(message) !== undefined,
        )
        const problem = `round ${key} of ${JSON.stringify([conversation, turnKey])} was never judged`
        if (!isJudged) findings.set(problem, { problem, conversation })
      }
    }
    return [...findings.values()]
  },
}
