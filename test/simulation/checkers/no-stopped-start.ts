// A call that an operator's stop named before its first claim never starts. The evidence is the
// order of the executor's inbox and the tools' own records.

import type { Checker, Finding } from '../evidence.ts'

export const noStoppedStart: Checker = {
  name: 'no-stopped-start',
  check(evidence) {
    const claimedAt = new Map<string, number>()
    for (const { record, message } of evidence.all('rounds-cleared', 'claim')) {
      const call = callOf(message, message.ordinal)
      if (!claimedAt.has(call)) claimedAt.set(call, record.offset)
    }
    const started = new Map(evidence.ledger.starts.map((start) => [start.call, start]))
    return evidence
      .all('rounds-cleared', 'calls-stopped')
      .flatMap(({ record, message }): Finding[] =>
        message.ordinals.flatMap((ordinal): Finding[] => {
          const call = callOf(message, ordinal)
          const start = started.get(call)
          const isClaimed = (claimedAt.get(call) ?? Number.POSITIVE_INFINITY) < record.offset
          if (start === undefined || isClaimed) return []
          const problem = `${start.machine} started ${call}, which an operator stopped before its claim`
          return [{ problem, conversation: message.conversation }]
        }),
      )
  },
}

function callOf(
  { conversation, turn, round }: { conversation: string; turn: number; round: number },
  ordinal: number,
): string {
  return JSON.stringify([conversation, turn, round, ordinal])
}
