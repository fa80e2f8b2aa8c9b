// R8: invalid bytes go to dead-letters once, with their origin. No other dead letters exist,
// because no reducer of ours may throw.

import type { Checker, Finding } from '../evidence.ts'

export const deadLetters: Checker = {
  name: 'dead-letters',
  check(evidence) {
    const findings: Finding[] = []
    const letters = new Map<string, Set<string>>()
    const why = new Map<string, string>()
    for (const { record, message } of evidence.all('dead-letters', 'dead-letter')) {
      const origin = `${message.topic}/${message.partition}/${message.offset}`
      const ids = letters.get(origin) ?? new Set()
      letters.set(origin, ids)
      ids.add(record.id ?? '')
      why.set(origin, `${message.stage}: ${message.reason}`)
    }
    const garbage = new Set(
      evidence.ledger.garbage.map(
        ({ topic, partition, offset }) => `${topic}/${partition}/${offset}`,
      ),
    )
    for (const origin of garbage)
      if (letters.get(origin)?.size !== 1)
        findings.push({
          problem: `the invalid record at ${origin} has ${letters.get(origin)?.size ?? 0} dead letters`,
        })
    for (const [origin, reason] of why)
      if (!garbage.has(origin))
        findings.push({ problem: `the record at ${origin} went to dead-letters: ${reason}` })
    return findings
  },
}
