// G1: no round of a guest is an orphan: it has one outcome, or its turn has ended. Each turn that
// began is finished once, and no other turn is finished. A key has one number in a turn.

import {
  addressOf,
  type Checker,
  type Finding,
  recordsOf,
  roundKey,
  turnKey,
} from '../../evidence.ts'

export const guestRounds: Checker = {
  name: 'guest-rounds',
  rule: 'Each round and each turn of a guest ends once, and a key has one number in a turn.',
  needs: [],
  check(evidence) {
    const findings: Finding[] = []
    const outcomes = Map.groupBy(recordsOf(evidence, 'round-outcome'), ({ message }) =>
      roundKey(message),
    )
    const finished = Map.groupBy(recordsOf(evidence, 'turn-finished'), ({ message }) =>
      turnKey(message),
    )
    const numbers = new Map<string, number>()
    for (const record of recordsOf(evidence, 'round-proposed')) {
      const { message } = record
      const report = (problem: string) =>
        findings.push({ problem: `${roundKey(message)} ${problem}`, at: addressOf(record) })
      const found = outcomes.get(roundKey(message))?.length ?? 0
      if (found > 1) report(`has ${found} outcomes`)
      if (found === 0 && !finished.has(turnKey(message))) report('is an orphan: it has no outcome')
      const name = JSON.stringify([turnKey(message), message.response.attempt])
      const known = numbers.get(name)
      if (known !== undefined && known !== message.round) report(`has the key of round ${known}`)
      numbers.set(name, message.round)
    }
    const started = new Set<string>()
    for (const record of recordsOf(evidence, 'turn-started')) {
      const turn = turnKey(record.message)
      if (started.has(turn)) continue
      started.add(turn)
      const ends = finished.get(turn)?.length ?? 0
      if (ends !== 1)
        findings.push({
          at: addressOf(record),
          problem: `the turn ${turn} of a guest has ${ends} ends`,
        })
    }
    for (const [turn, [record]] of finished)
      if (!started.has(turn))
        findings.push({
          at: record && addressOf(record),
          problem: `the turn ${turn} of a guest ended and never began`,
        })
    return findings
  },
}
