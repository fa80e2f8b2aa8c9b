// R8 and the wire format. The schemas of the lock decode every record, and it is in the partition
// of its conversation, or of its tenant in the topic budgets. None went to dead-letters, because no fault of this run writes invalid
// bytes.

import { addressOf, type Checker, recordsOf, type Violation } from '../evidence.ts'

export const readable: Checker = {
  name: 'readable',
  check(evidence) {
    const violations: Violation[] = []
    const report = (problem: string, at?: string) =>
      violations.push({ checker: 'readable', problem, at })
    const homes = new Map<string, number>()
    for (const record of evidence.records) {
      const { message, fault, partition } = record
      if (fault !== undefined) report(`it cannot be read: ${fault}`, addressOf(record))
      if (message === undefined || !('conversation' in message)) continue
      const of = record.topic === 'budgets' ? `the tenant ${record.key}` : message.conversation
      const home = homes.get(of) ?? partition
      homes.set(of, home)
      if (home !== partition)
        report(
          `${message.type} of ${of} is in this partition, and others of it are in partition ${home}`,
          addressOf(record),
        )
    }
    for (const record of recordsOf(evidence, 'dead-letter', 'turn-failed')) {
      const { message } = record
      const origin =
        message.type === 'dead-letter'
          ? `${message.topic}/${message.partition}/${message.offset}`
          : message.conversation
      report(
        `${message.type} of ${message.stage} about ${origin}: ${message.reason}`,
        addressOf(record),
      )
    }
    return violations
  },
}
