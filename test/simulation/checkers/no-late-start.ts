// R4 and R6: no tool starts after its result. None starts from a claim that was appended after its
// turn expired. None starts if the turn's cancel precedes the round in the executor's inbox.

import type { Checker, Finding } from '../evidence.ts'

export const noLateStart: Checker = {
  name: 'no-late-start',
  check(evidence) {
    const resultAt = new Map<string, number>()
    for (const { record, message } of evidence.all('rounds-checked', 'round-executed'))
      for (const { ordinal } of message.results) {
        const call = JSON.stringify([message.conversation, message.turn, message.round, ordinal])
        resultAt.set(call, Math.min(record.time, resultAt.get(call) ?? Number.POSITIVE_INFINITY))
      }
    const cancelledAt = new Map<string, number>()
    for (const { record, message } of evidence.all('rounds-cleared', 'cancel')) {
      const turn = JSON.stringify([message.conversation, message.turn])
      cancelledAt.set(
        turn,
        Math.min(record.offset, cancelledAt.get(turn) ?? Number.POSITIVE_INFINITY),
      )
    }
    const forbidden = new Set<string>()
    const expiresAt = new Map<string, number>()
    for (const { record, message } of evidence.all('rounds-cleared', 'round-cleared')) {
      const { conversation, turn, round, calls } = message
      const cancelled =
        cancelledAt.get(JSON.stringify([conversation, turn])) ?? Number.POSITIVE_INFINITY
      for (const { ordinal } of calls) {
        const call = JSON.stringify([conversation, turn, round, ordinal])
        if (!expiresAt.has(call) && cancelled < record.offset) forbidden.add(call)
        if (!expiresAt.has(call))
          expiresAt.set(call, Math.max(message.expiresAt, message.extendedTo ?? 0))
      }
    }
    // A claim starts at most one tool. So a call starts no more often than it has tries with a
    // claim in time.
    const triesInTime = new Map<string, Set<number>>()
    for (const { record, message } of evidence.all('rounds-cleared', 'claim')) {
      const call = JSON.stringify([
        message.conversation,
        message.turn,
        message.round,
        message.ordinal,
      ])
      if (record.time >= (expiresAt.get(call) ?? Number.POSITIVE_INFINITY)) continue
      triesInTime.set(call, (triesInTime.get(call) ?? new Set()).add(message.try))
    }
    const startsSeen = new Map<string, number>()
    return evidence.ledger.starts.flatMap(({ call, time, machine }): Finding[] => {
      const conversation = (JSON.parse(call) as string[])[0]
      const findings: Finding[] = []
      const given = resultAt.get(call)
      if (given !== undefined && given < time)
        findings.push({
          problem: `${machine} started ${call} ${time - given} ms after its result was given`,
          conversation,
        })
      if (forbidden.has(call))
        findings.push({
          problem: `${machine} started ${call} after a cancel that preceded its round`,
          conversation,
        })
      const starts = (startsSeen.get(call) ?? 0) + 1
      startsSeen.set(call, starts)
      const inTime = triesInTime.get(call)?.size ?? 0
      if (starts > inTime) {
        const problem = `${machine} started ${call} (start ${starts}), but only ${inTime} of its tries were claimed before it expired`
        findings.push({ problem, conversation })
      }
      return findings
    })
  },
}
