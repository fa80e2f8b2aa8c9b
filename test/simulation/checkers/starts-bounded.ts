// R4: a call that is not idempotent starts at most once, an idempotent one at most toolTries times.

import type { Checker, Finding } from '../evidence.ts'

export const startsBounded: Checker = {
  name: 'starts-bounded',
  check(evidence) {
    const findings: Finding[] = []
    const starts = Map.groupBy(evidence.ledger.starts, ({ call }) => call)
    const tries = new Map<string, number>()
    for (const { message } of evidence.all('rounds-cleared', 'round-cleared'))
      for (const { ordinal } of message.calls)
        tries.set(
          JSON.stringify([message.conversation, message.turn, message.round, ordinal]),
          message.policy.toolTries,
        )
    for (const [call, started] of starts) {
      const max = started[0]?.idempotent ? (tries.get(call) ?? 0) : 1
      const conversation = (JSON.parse(call) as string[])[0]
      if (!tries.has(call))
        findings.push({ problem: `${call} was started and never cleared`, conversation })
      else if (started.length > max)
        findings.push({
          problem: `${call} (${started[0]?.tool}) was started ${started.length} times, at most ${max} were allowed: by ${started.map(({ machine }) => machine)}`,
          conversation,
        })
    }
    return findings
  },
}
