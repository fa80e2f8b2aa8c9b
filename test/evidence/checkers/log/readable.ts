// R8 and the wire format. The schemas decode every record, and it is in the partition of its
// conversation, or of its tenant in the topic budgets. A record of a stranger goes to dead-letters
// once, with its origin. No other dead letters exist, because no reducer of ours may throw.

import { addressOf, type Checker, type Finding, recordsOf } from '../../evidence.ts'

export const readable: Checker = {
  name: 'readable',
  rule: 'Each record can be decoded, or has exactly one dead letter if a stranger wrote it.',
  needs: [],
  check(evidence) {
    const findings: Finding[] = []
    const report = (problem: string, at: string) => findings.push({ problem, at })
    const homes = new Map<string, number>()
    for (const record of evidence.records) {
      if (record.isForeign === true) continue
      const { message, fault, partition, topic } = record
      if (fault !== undefined) report(`it cannot be read: ${fault}`, addressOf(record))
      if (message === undefined || !('conversation' in message)) continue
      const of = topic === 'budgets' ? `the tenant ${record.key}` : message.conversation
      const home = homes.get(of) ?? partition
      homes.set(of, home)
      if (home !== partition)
        report(
          `${message.type} of ${of} is in this partition, and others of it are in partition ${home}`,
          addressOf(record),
        )
    }
    const letters = Map.groupBy(recordsOf(evidence, 'dead-letter'), ({ message }) =>
      addressOf(message),
    )
    for (const record of evidence.records) {
      if (record.isForeign !== true) continue
      const origin = evidence.topicPrefix + addressOf(record)
      const count = letters.get(origin)?.length ?? 0
      if (count !== 1)
        report(`the record of a stranger has ${count} dead letters`, addressOf(record))
      letters.delete(origin)
    }
    for (const record of [...[...letters.values()].flat(), ...recordsOf(evidence, 'turn-failed')]) {
      const { message } = record
      const origin = message.type === 'dead-letter' ? addressOf(message) : message.conversation
      report(
        `${message.type} of ${message.stage} about ${origin}: ${message.reason}`,
        addressOf(record),
      )
    }
    return findings
  },
}
