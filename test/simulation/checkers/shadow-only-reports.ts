// A rule in shadow mode has no effect, and reports about it name that mode. The policy of the round
// at the loop-detector decides.

import type { Checker, Finding } from '../evidence.ts'

export const shadowOnlyReports: Checker = {
  name: 'shadow-only-reports',
  check(evidence) {
    const placeOf = ({
      conversation,
      turn,
      round,
    }: {
      conversation: string
      turn: number
      round: number
    }) => JSON.stringify([conversation, turn, round])
    const shadowed = new Map(
      evidence
        .all('rounds-checked', 'round-checked')
        .map(({ message }) => [placeOf(message), message.policy.shadowed]),
    )
    const acted = evidence
      .all('conversation-events', 'round-outcome')
      .flatMap(({ message }): Finding[] => {
        const rule = message.intervention?.rule ?? ''
        if (!shadowed.get(placeOf(message))?.includes(rule)) return []
        return [
          {
            problem: `the outcome of ${placeOf(message)} has an intervention of ${rule}, a shadow`,
            conversation: message.conversation,
          },
        ]
      })
    const reported = evidence
      .all('activity', 'intervention-raised')
      .flatMap(({ message }): Finding[] => {
        const { conversation, shadow, intervention } = message
        if (shadow === (shadowed.get(placeOf(message))?.includes(intervention.rule) ?? false))
          return []
        return [
          {
            problem: `${placeOf(message)}: ${intervention.rule} is reported as ${shadow ? 'a shadow, and is none' : 'enforcing, and is a shadow'}`,
            conversation,
          },
        ]
      })
    return [...acted, ...reported]
  },
}
