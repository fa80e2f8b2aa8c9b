// G1: a round of a guest is judged once. A key has at most one number in a turn.

import { isGuest } from '../../../shared/contract/topology.ts'
import type { Checker, Finding } from '../evidence.ts'

export const guestRoundOnce: Checker = {
  name: 'guest-round-once',
  check(evidence) {
    const findings: Finding[] = []
    const rounds = new Map<string, number>()
    for (const { message } of evidence.all('rounds-proposed', 'round-proposed')) {
      const { conversation, turn, round, response } = message
      if (!isGuest(conversation)) continue
      const name = JSON.stringify([conversation, turn, response.attempt])
      const known = rounds.get(name)
      if (known !== undefined && known !== round)
        findings.push({ problem: `${name} is round ${known} and ${round}`, conversation })
      rounds.set(name, round)
    }
    return findings
  },
}
