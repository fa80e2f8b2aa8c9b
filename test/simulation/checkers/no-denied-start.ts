// R6: no call starts that an enforcing guard rejected. The same holds for a guard without a usable
// answer if silence rejects. The evidence is the executor's inbox and the tools' own records, not
// the executor's decisions.

import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import type { Checker, Finding } from '../evidence.ts'

export const noVetoedStart: Checker = {
  name: 'no-denied-start',
  check(evidence) {
    const starts = new Map(evidence.ledger.starts.map((start) => [start.call, start]))
    const verdicts = evidence.all('rounds-cleared', 'guard-verdict')
    const seen = new Set<string>()
    return evidence
      .all('rounds-cleared', 'round-cleared')
      .flatMap(({ record, message }): Finding[] => {
        const { conversation, turn, round, calls, policy } = message
        const place = JSON.stringify([conversation, turn, round])
        if (seen.has(place)) return []
        seen.add(place)
        return policy.guards.flatMap((guard): Finding[] => {
          const answer = verdicts.find(
            (other) =>
              other.record.partition === record.partition &&
              other.record.offset > record.offset &&
              other.message.guard === guard.name &&
              JSON.stringify([
                other.message.conversation,
                other.message.turn,
                other.message.round,
              ]) === place,
          )
          const isInTime =
            answer !== undefined && answer.record.time < record.time + guard.deadlineMs
          const enforced = calls.filter(({ name }) => modeFor(guard, name) === 'enforce')
          return enforced.flatMap(({ ordinal }): Finding[] => {
            const start = starts.get(JSON.stringify([conversation, turn, round, ordinal]))
            const verdicts =
              answer?.message.verdicts.filter((verdict) => verdict.ordinal === ordinal) ?? []
            const isForbidden = isInTime
              ? verdicts.length === 0 || verdicts.some(({ verdict }) => verdict === 'deny')
              : guard.onTimeout === 'deny'
            if (start === undefined || !isForbidden) return []
            const why = isInTime ? 'denied' : 'did not answer for'
            return [
              {
                problem: `${start.machine} started ${start.call}, which guard ${guard.name} ${why}`,
                conversation,
              },
            ]
          })
        })
      })
  },
}
