// A rule in shadow mode has no effect, and reports about it name that mode. The policy of the round
// at the loop-detector decides.

import type { Checker, Complaint } from '../evidence.ts'

export const shadowOnlyTells: Checker = {
  name: 'shadow-only-tells',
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
      .flatMap(({ message }): Complaint[] => {
        const rule = message.intervention?.rule ?? ''
        if (!shadowed.get(placeOf(message))?.includes(rule)) return []
        return [
          {
            what: `the outcome of ${placeOf(message)} has an intervention of ${rule}, a shadow`,
            conversation: message.conversation,
          },
        ]
      })
    const told = evidence
      .all('activity', 'intervention-raised')
      .flatMap(({ message }): Complaint[] => {
        const { conversation, shadow, intervention } = message
        if (shadow === (shadowed.get(placeOf(message))?.includes(intervention.rule) ?? false))
          return []
        return [
          {
            what: `${placeOf(message)}: ${intervention.rule} is told as ${shadow ? 'a shadow, and is none' : 'enforcing, and is a shadow'}`,
            conversation,
          },
        ]
      })
    return [...acted, ...told]
  },
}
