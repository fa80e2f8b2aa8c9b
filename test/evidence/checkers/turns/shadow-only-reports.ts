// A rule in shadow mode has no effect, and reports about it name that mode. The policy of the round
// at the loop-detector decides.

import { addressOf, type Checker, recordsOf, roundKey } from '../../evidence.ts'

export const shadowOnlyReports: Checker = {
  name: 'shadow-only-reports',
  rule: 'A rule in shadow mode has no effect, and reports about it name that mode.',
  needs: [],
  check(evidence) {
    const shadowed = new Map(
      recordsOf(evidence, 'round-checked').map(({ message }) => [
        roundKey(message),
        message.policy.shadowed,
      ]),
    )
    const acted = recordsOf(evidence, 'round-outcome').flatMap((record) => {
      const rule = record.message.intervention?.rule ?? ''
      const round = roundKey(record.message)
      if (!shadowed.get(round)?.includes(rule)) return []
      const problem = `the outcome of ${round} has an intervention of ${rule}, a shadow`
      return [{ problem, at: addressOf(record) }]
    })
    const reported = recordsOf(evidence, 'intervention-raised').flatMap((record) => {
      const { shadow, intervention } = record.message
      const round = roundKey(record.message)
      if (shadow === (shadowed.get(round)?.includes(intervention.rule) ?? false)) return []
      const problem = `${round}: ${intervention.rule} is reported as ${shadow ? 'a shadow, and is none' : 'enforcing, and is a shadow'}`
      return [{ problem, at: addressOf(record) }]
    })
    return [...acted, ...reported]
  },
}
