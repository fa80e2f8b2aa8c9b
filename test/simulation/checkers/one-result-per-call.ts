// R5: a round-outcome has exactly one result for each call. So has the history, once for each
// (turn, round). Each result reports the real outcome.

import type { CallResult, MessageOf } from '../../../shared/contract/messages.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

const neverRan = new Set(['skipped', 'denied'])
const ran = new Set(['ok', 'timed_out'])

export const oneResultPerCall: Checker = {
  name: 'one-result-per-call',
  check(evidence) {
    return [...outcomes(evidence), ...history(evidence)]
  },
}

function outcomes(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const started = new Set(evidence.ledger.starts.map(({ call }) => call))
  const ids = new Map<string, string>()
  for (const { record, message } of evidence.all('conversation-events', 'round-outcome')) {
    const { conversation, turn, round, response, results } = message
    const name = JSON.stringify([conversation, turn, round])
    const report = (problem: string) =>
      findings.push({ problem: `round-outcome ${name}: ${problem}`, conversation })
    if (ids.has(name) && ids.get(name) !== record.id)
      report(`there are two, ${ids.get(name)} and ${record.id}`)
    ids.set(name, record.id ?? '')
    if (!isPaired(response.calls, results))
      report(
        `calls ${response.calls.map(({ ordinal }) => ordinal)}, results ${results.map(({ ordinal }) => ordinal)}`,
      )
    for (const { ordinal, status } of results) {
      const hasStarted = started.has(JSON.stringify([conversation, turn, round, ordinal]))
      if (neverRan.has(status) && hasStarted)
        report(`call ${ordinal} is ${status}, and its tool was started`)
      if (ran.has(status) && !hasStarted)
        report(`call ${ordinal} is ${status}, and its tool was never started`)
    }
  }
  return findings
}

function history(evidence: Evidence): Finding[] {
  const findings: Finding[] = []
  const entries = new Map<string, { id: string | undefined; entry: MessageOf<'history-entry'> }>()
  for (const { record, message } of evidence.all('history', 'history-entry')) {
    const known = entries.get(record.key)
    if (known !== undefined && known.id !== record.id)
      findings.push({
        problem: `history ${record.key} was written by ${known.id} and ${record.id}; an entry is immutable`,
        conversation: message.conversation,
      })
    entries.set(record.key, { id: record.id, entry: message })
    if (!isPaired(message.response?.calls ?? [], message.results))
      findings.push({
        problem: `history ${record.key} has calls without exactly one result each`,
        conversation: message.conversation,
      })
  }
  for (const { message } of evidence.all('activity', 'round-started')) {
    const { conversation, turn, round } = message
    if (!entries.has(JSON.stringify([conversation, turn, round])))
      findings.push({
        problem: `round ${round} of turn ${turn} was started and has no history entry`,
        conversation,
      })
  }
  return findings
}

function isPaired(calls: { ordinal: number }[], results: CallResult[]): boolean {
  const ordinals = new Set(results.map(({ ordinal }) => ordinal))
  return (
    results.length === calls.length &&
    ordinals.size === calls.length &&
    calls.every(({ ordinal }) => ordinals.has(ordinal))
  )
}
