// R4 and R6: nothing starts after its result was given, after its turn has expired, or if the turn's cancel stood in the executor's inbox before
// the round did.

import type { Checker, Complaint } from '../evidence.ts'

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
      cancelledAt.set(turn, Math.min(record.offset, cancelledAt.get(turn) ?? Number.POSITIVE_INFINITY))
    }
    const forbidden = new Set<string>()
    const seen = new Set<string>()
    for (const { record, message } of evidence.all('rounds-cleared', 'round-cleared')) {
      const { conversation, turn, round, calls } = message
      const cancelled = cancelledAt.get(JSON.stringify([conversation, turn])) ?? Number.POSITIVE_INFINITY
      for (const { ordinal } of calls) {
        const call = JSON.stringify([conversation, turn, round, ordinal])
        if (!seen.has(call) && cancelled < record.offset) forbidden.add(call)
        seen.add(call)
      }
    }
    return evidence.ledger.starts.flatMap(({ call, time, machine }): Complaint[] => {
      const conversation = (JSON.parse(call) as string[])[0]
      const complaints: Complaint[] = []
      const given = resultAt.get(call)
      if (given !== undefined && given < time)
        complaints.push({ what: `${machine} started ${call} ${time - given} ms after its result was given`, conversation })
      if (forbidden.has(call))
        complaints.push({ what: `${machine} started ${call}, whose turn was cancelled before its round came`, conversation })
      return complaints
    })
  },
}
