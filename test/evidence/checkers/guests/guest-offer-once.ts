// R4: a call of a guest is offered once, and one front gets its claim. No verdict `allow` follows `deny` or
// the end of the call. A turn that goes on under a further number does not offer its rounds again, unless another turn came
// between.

import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
  turnKey,
} from '../../evidence.ts'
import { guestFacts } from './guest-facts.ts'

export const guestOfferOnce: Checker = {
  name: 'guest-offer-once',
  rule: 'A call of a guest is offered once, and one front gets its claim.',
  needs: [],
  check(evidence) {
    return [...verdictsInOrder(evidence), ...furtherNumbers(evidence), ...claimedTwice(evidence)]
  },
}

function verdictsInOrder(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const last = new Map<string, string>()
  for (const record of recordsOf(evidence, 'guest-verdicts'))
    for (const { ordinal, verdict, isOver } of record.message.calls) {
      const call = callKey(record.message, ordinal)
      const before = last.get(call)
      if (verdict === 'allow' && !isOver && (before === 'deny' || before === 'over'))
        findings.push({
          problem: `the call ${call} is offered after ${before}`,
          at: addressOf(record),
        })
      last.set(call, isOver ? 'over' : verdict)
    }
  return findings
}

function claimedTwice(evidence: Evidence): Finding[] {
  const owners = new Map<string, string>()
  return recordsOf(evidence, 'guest-claimed').flatMap((record) =>
    record.message.ordinals.flatMap((ordinal): Finding[] => {
      const call = callKey(record.message, ordinal)
      const { owner } = record.message
      const first = owners.get(call) ?? owner
      owners.set(call, first)
      if (first === owner) return []
      return [{ problem: `the call ${call} is claimed by two fronts`, at: addressOf(record) }]
    }),
  )
}

function furtherNumbers(evidence: Evidence): Finding[] {
  const facts = guestFacts(evidence)
  const keys = Map.groupBy(recordsOf(evidence, 'round-proposed'), ({ message }) => turnKey(message))
  const keysOf = (at: { conversation: string; turn: number }) => [
    ...new Set((keys.get(turnKey(at)) ?? []).map(({ message }) => message.response.attempt)),
  ]
  const turns = Map.groupBy(
    recordsOf(evidence, 'turn-started'),
    ({ message }) => message.conversation,
  )
  return [...turns].flatMap(([conversation, started]) => {
    const numbers = [...new Set(started.map(({ message }) => message.turn))]
    const sorted = numbers.toSorted((a, b) => a - b)
    return sorted.flatMap((turn, i) => {
      const former = { conversation, turn: sorted[i - 1] ?? turn }
      const at = { conversation, turn }
      if (former.turn === turn || facts.nameOf(at) !== facts.nameOf(former)) return []
      const twice = keysOf(at).filter((key) => keysOf(former).includes(key))
      if (twice.length === 0) return []
      const problem = `turns ${former.turn} and ${turn} of ${conversation} both have ${twice}`
      return [{ problem }]
    })
  })
}
