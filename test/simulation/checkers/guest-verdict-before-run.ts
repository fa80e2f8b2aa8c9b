// R6: a blocking front lets a call run only after a verdict `allow` on its own round. The call may
// be over, if the offer and the outcome came in one step. The executor wrote the verdict before the
// world started the call.

import type { Checker, Finding } from '../evidence.ts'
import { guestFacts, roundOf } from './guest-facts.ts'

export const guestVerdictBeforeRun: Checker = {
  name: 'guest-verdict-before-run',
  check(evidence) {
    const findings: Finding[] = []
    const facts = guestFacts(evidence)
    const allowed = new Map<string, number>()
    for (const { record, message } of evidence.all('activity', 'guest-verdicts'))
      for (const { ordinal, verdict } of message.calls) {
        const name = `${roundOf(message)} ${ordinal}`
        if (verdict === 'allow' && !allowed.has(name)) allowed.set(name, record.time)
      }
    for (const run of evidence.ledger.guests.runs) {
      if (!run.judged) continue
      const { conversation, turnKey, key = '', ordinal, time } = run
      const isAllowed = facts
        .roundsOf({ conversation, turnKey, key })
        .some(({ message }) => (allowed.get(`${roundOf(message)} ${ordinal}`) ?? Infinity) <= time)
      if (!isAllowed)
        findings.push({
          problem: `a call ran without a verdict on its round: ${JSON.stringify(run)}`,
          conversation,
        })
    }
    return findings
  },
}
