// R4: a call of a guest is offered once. No verdict `allow` follows `deny` or the end of the call. A turn that
// goes on under a further number does not offer its rounds again, unless another turn came between.

import { isGuest } from '../../../shared/contract/topology.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'
import { guestFacts, roundOf } from './guest-facts.ts'

export const guestOfferOnce: Checker = {
  name: 'guest-offer-once',
  check(evidence) {
    return [...verdictsInOrder(evidence), ...furtherNumbers(evidence)]
  },
}

function verdictsInOrder(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const last = new Map<string, string>()
  const ids = new Set<string>()
  for (const { record, message } of evidence.all('activity', 'guest-verdicts')) {
    if (ids.has(record.id ?? '')) continue // a copy of an older record
    ids.add(record.id ?? '')
    for (const { ordinal, verdict, isOver } of message.calls) {
      const name = `${roundOf(message)} ${ordinal}`
      const before = last.get(name)
      if (verdict === 'allow' && !isOver && (before === 'deny' || before === 'over'))
        findings.push({
          problem: `call ${name} is offered after ${before}`,
          conversation: message.conversation,
        })
      last.set(name, isOver ? 'over' : verdict)
    }
  }
  return findings
}

function furtherNumbers(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const facts = guestFacts(evidence)
  const turns = new Map<string, number[]>()
  const keys = new Map<string, Set<string>>()
  for (const { message } of evidence.all('rounds-proposed', 'round-proposed')) {
    const { conversation, turn, response } = message
    if (!isGuest(conversation)) continue
    const name = JSON.stringify([conversation, turn])
    keys.set(name, (keys.get(name) ?? new Set()).add(response.attempt))
  }
  for (const { message } of evidence.all('activity', 'turn-started')) {
    const { conversation, turn } = message
    if (!isGuest(conversation)) continue
    turns.set(conversation, [...new Set([...(turns.get(conversation) ?? []), turn])])
  }
  for (const [conversation, numbers] of turns)
    for (const [i, turn] of numbers.toSorted((a, b) => a - b).entries()) {
      const former = numbers[i - 1]
      if (former === undefined) continue
      const isSame =
        facts.nameOf({ conversation, turn }) === facts.nameOf({ conversation, turn: former })
      const known = keys.get(JSON.stringify([conversation, former]))
      const again = [...(keys.get(JSON.stringify([conversation, turn])) ?? [])]
      const twice = isSame ? again.filter((key) => known?.has(key)) : []
      if (twice.length > 0)
        findings.push({ problem: `turns ${former} and ${turn} both have ${twice}`, conversation })
    }
  return findings
}
