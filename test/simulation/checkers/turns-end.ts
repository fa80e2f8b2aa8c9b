// Every user message opens at most one turn and ends in exactly one turn-finished, also a queued
// and a cancelled one. No other turn-finished exists. A refused message opens no turn. Each repeat
// of it is refused again, because no state keeps it, so it may have several. Guests are those of
// guest-turns-end.

import { isGuest } from '../../../shared/contract/topology.ts'
import type { Checker, Finding } from '../evidence.ts'

export const turnsEnd: Checker = {
  name: 'turns-end',
  check(evidence) {
    const started = new Map<string, Set<string>>()
    const finished = new Map<string, Set<string>>()
    for (const { record, message } of evidence.all('activity', 'turn-started'))
      note(started, message, record.id)
    for (const { record, message } of evidence.all('activity', 'turn-finished'))
      note(finished, message, record.id)
    const sent = new Map(evidence.ledger.sent.map((message) => [keyOf(message), message]))
    const findings: Finding[] = []
    for (const [key, { conversation, refusable }] of sent) {
      const starts = [...(started.get(key) ?? [])]
      const ends = [...(finished.get(key) ?? [])]
      const report = (problem: string) =>
        findings.push({ problem: `the message ${key} ${problem}`, conversation })
      if (ends.length === 0) report('has no turn-finished')
      if (ends.length > 1 && !refusable) report(`has ${ends.length} turn-finished: ${ends}`)
      if (starts.length > (refusable ? 0 : 1)) report(`opened ${starts.length} turns: ${starts}`)
    }
    for (const key of finished.keys())
      if (!sent.has(key) && !isGuest(conversationIn(key)))
        findings.push({ problem: `turn-finished of ${key}, which nobody sent` })
    return findings
  },
}

function conversationIn(key: string): string {
  return (JSON.parse(key) as [string, string])[0]
}

function keyOf({ conversation, messageId }: { conversation: string; messageId: string }): string {
  return JSON.stringify([conversation, messageId])
}

function note(
  ids: Map<string, Set<string>>,
  message: { conversation: string; messageId: string },
  id = 'an observed record',
): void {
  const known = ids.get(keyOf(message)) ?? new Set()
  ids.set(keyOf(message), known.add(id))
}
