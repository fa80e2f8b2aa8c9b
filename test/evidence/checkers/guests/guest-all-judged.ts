// Catch-up: each round of a history that a judged request shows has been judged. A stopped turn
// takes no further round. A forked guest writes two histories in one turn. If both use one call id for
// different calls, the id names the round that came first.

import type { Checker, Finding } from '../../evidence.ts'
import { guestFacts } from './guest-facts.ts'

export const guestAllJudged: Checker<'guestHistories'> = {
  name: 'guest-all-judged',
  rule: 'Each round of a history that a judged request shows has been judged.',
  needs: ['guestHistories'],
  check(evidence) {
    const facts = guestFacts(evidence)
    const findings = new Map<string, Finding>()
    for (const asked of evidence.guestHistories.asked) {
      const { conversation, turnKey, keys, judged, mode, action, isForked } = asked
      if (!judged || mode === 'hiding' || action === 'end') continue
      for (const key of keys) {
        const of = { conversation, turnKey, key }
        const isJudged = [...facts.roundsOf(of), ...(isForked ? facts.twinsOf(of) : [])].some(
          ({ message }) =>
            facts.outcomeOf(message) !== undefined || facts.endOf(message) !== undefined,
        )
        const problem = `round ${key} of ${JSON.stringify([conversation, turnKey])} was never judged`
        if (!isJudged) findings.set(problem, { problem })
      }
    }
    return [...findings.values()]
  },
}
