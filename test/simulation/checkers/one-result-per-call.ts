// R5: a round-outcome has exactly one result for each call. So has the history, once for each
// (turn, round). Each result reports the real outcome.

import type { CallResult, MessageOf } from '../../../shared/contract/messages.ts'
import type { Checker, Complaint, Evidence } from '../evidence.ts'

const neverRan = new Set(['skipped', 'rejected', 'vetoed'])
const ran = new Set(['ok', 'timed_out'])

export const oneResultPerCall: Checker = {
  name: 'one-result-per-call',
  check(evidence) {
    return [...outcomes(evidence), ...history(evidence)]
  },
}

function outcomes(evidence: Evidence): Complaint[] {
  const complaints: Complaint[] = []
  const started = new Set(evidence.ledger.starts.map(({ call }) => call))
  const ids = new Map<string, string>()
  for (const { record, message } of evidence.all('conversation-events', 'round-outcome')) {
    const { conversation, turn, round, response, results } = message
    const name = JSON.stringify([conversation, turn, round])
    const say = (what: string) =>
      complaints.push({ what: `round-outcome ${name}: ${what}`, conversation })
    if (ids.has(name) && ids.get(name) !== record.id)
      say(`there are two, ${ids.get(name)} and ${record.id}`)
    ids.set(name, record.id ?? '')
    if (!isPaired(response.calls, results))
      say(
        `calls ${response.calls.map(({ ordinal }) => ordinal)}, results ${results.map(({ ordinal }) => ordinal)}`,
      )
    for (const { ordinal, status } of results) {
      const hasStarted = started.has(JSON.stringify([conversation, turn, round, ordinal]))
      if (neverRan.has(status) && hasStarted)
        say(`call ${ordinal} is ${status}, and its tool was started`)
      if (ran.has(status) && !hasStarted)
        say(`call ${ordinal} is ${status}, and its tool was never started`)
    }
  }
  return complaints
}

function history(evidence: Evidence): Complaint[] {
  const complaints: Complaint[] = []
  const entries = new Map<string, { id: string | undefined; entry: MessageOf<'history-entry'> }>()
  for (const { record, message } of evidence.all('history', 'history-entry')) {
    const known = entries.get(record.key)
    if (known !== undefined && known.id !== record.id)
      complaints.push({
        what: `history ${record.key} was written by ${known.id} and ${record.id}; an entry is immutable`,
        conversation: message.conversation,
      })
    entries.set(record.key, { id: record.id, entry: message })
    if (!isPaired(message.response?.calls ?? [], message.results))
      complaints.push({
        what: `history ${record.key} has calls without exactly one result each`,
        conversation: message.conversation,
      })
  }
  for (const { message } of evidence.all('activity', 'round-started')) {
    const { conversation, turn, round } = message
    if (!entries.has(JSON.stringify([conversation, turn, round])))
      complaints.push({
        what: `round ${round} of turn ${turn} was started and has no history entry`,
        conversation,
      })
  }
  return complaints
}

function isPaired(calls: { ordinal: number }[], results: CallResult[]): boolean {
  const ordinals = new Set(results.map(({ ordinal }) => ordinal))
  return (
    results.length === calls.length &&
    ordinals.size === calls.length &&
    calls.every(({ ordinal }) => ordinals.has(ordinal))
  )
}
