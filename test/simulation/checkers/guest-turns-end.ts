// Each turn of a guest that starts is finished, once. Each of its rounds has an outcome, or the turn
// ended without it.

import { isGuest } from '../../../shared/contract/topology.ts'
import type { Checker, Finding } from '../evidence.ts'
import { guestFacts, turnOf } from './guest-facts.ts'

export const guestTurnsEnd: Checker = {
  name: 'guest-turns-end',
  check(evidence) {
    const findings: Finding[] = []
    const ends = new Map<string, Set<string>>()
    for (const { record, message } of evidence.all('activity', 'turn-finished')) {
      if (!isGuest(message.conversation)) continue
      const name = turnOf(message)
      ends.set(name, (ends.get(name) ?? new Set()).add(record.id ?? ''))
    }
    const starts = new Map(
      evidence
        .all('activity', 'turn-started')
        .filter(({ message }) => isGuest(message.conversation))
        .map(({ message }) => [turnOf(message), message.conversation]),
    )
    for (const [name, conversation] of starts) {
      const count = ends.get(name)?.size ?? 0
      if (count !== 1) findings.push({ problem: `turn ${name} has ${count} ends`, conversation })
    }
    for (const name of ends.keys())
      if (!starts.has(name)) findings.push({ problem: `turn ${name} ended and never started` })
    const facts = guestFacts(evidence)
    for (const { message } of evidence.all('rounds-proposed', 'round-proposed')) {
      const { conversation, turn, round } = message
      if (!isGuest(conversation)) continue
      if (facts.outcomeOf(message) === undefined && facts.endOf(message) === undefined)
        findings.push({
          problem: `round ${round} of ${turnOf({ conversation, turn })} has no end`,
          conversation,
        })
    }
    return findings
  },
}
