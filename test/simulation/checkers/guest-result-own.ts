// G4: a result of a guest's call is Weir's refusal, unknown, or a result that a front wrote for this
// round and call. A text that the world used once belongs to the call that made it. A hook reports a
// call id and no round, so two branches of a fork with equal call ids are one call to it, also in
// two turns.

import type { MessageOf } from '../../../shared/contract/messages.ts'
import { hashOfKey } from '../../../shared/transcript/round-key.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'
import type { GuestRun } from '../world/ledger.ts'
import { guestFacts } from './guest-facts.ts'

const reported = new Set(['ok', 'error'])

export const guestResultOwn: Checker = {
  name: 'guest-result-own',
  check(evidence) {
    const findings: Finding[] = []
    const written = resultsWritten(evidence)
    const runs = new Map(evidence.ledger.guests.runs.map((run) => [run.text, run]))
    const facts = guestFacts(evidence)
    const visible = visibleRounds(evidence)
    for (const { message } of evidence.all('guest-events', 'round-outcome'))
      for (const { ordinal, status, text } of message.results) {
        if (!reported.has(status)) continue
        const { conversation, turn, round, response } = message
        const call = response.calls.find((call) => call.ordinal === ordinal)
        const place = `call ${ordinal} of ${JSON.stringify([conversation, turn, round])}`
        const words = [hashOfKey(response.attempt), '']
        const isWritten = words.some((hash) =>
          written.has(JSON.stringify([conversation, hash, call?.id, text])),
        )
        if (!isWritten)
          findings.push({
            problem: `${place} has a result that no front wrote: ${text}`,
            conversation,
          })
        const run = runs.get(text)
        if (run !== undefined && !belongs(run, message, ordinal, facts.nameOf(message), visible))
          findings.push({
            problem: `${place} has the result of ${JSON.stringify(run)}`,
            conversation,
          })
      }
    return findings
  },
}

/** By the words of its round: a front that hides rounds counts only the visible ones. */
function resultsWritten(evidence: Evidence): ReadonlySet<string> {
  const written = new Set<string>()
  for (const { message } of evidence.all('guest-events', 'guest-results'))
    for (const { key, callId, text } of [...message.results, ...(message.former?.results ?? [])])
      written.add(JSON.stringify([message.conversation, hashOfKey(key), callId, text]))
  return written
}

/**
 * A turn that comes back is read from the visible history, where a round behind hidden ones with the
 * same words has a lower number than when it ran.
 */
function visibleRounds(evidence: Evidence): ReadonlySet<string> {
  const visible = new Set<string>()
  for (const { message } of evidence.all('guest-events', 'guest-round'))
    if (!message.hides) visible.add(JSON.stringify([message.conversation, message.key]))
  return visible
}

/** A text that several calls have belongs to all of them. */
function belongs(
  run: GuestRun,
  { conversation, response }: MessageOf<'round-outcome'>,
  ordinal: number,
  turnKey: string | undefined,
  visible: ReadonlySet<string>,
): boolean {
  if (!run.text.startsWith('result ')) return true
  const isVisible = visible.has(JSON.stringify([conversation, response.attempt]))
  const isSameRound =
    run.key === undefined ||
    run.key === response.attempt ||
    (isVisible && hashOfKey(run.key) === hashOfKey(response.attempt))
  const call = response.calls.find((call) => call.ordinal === ordinal)
  return (
    run.conversation === conversation &&
    run.callId === call?.id &&
    (run.isForked || (run.turnKey === turnKey && isSameRound && isSameJson(run.sent, call.raw)))
  )
}

/** Clients parse arguments and write them again. */
function isSameJson(one: string, other: string): boolean {
  const plain = (text: string) => text.replace(/\s|\\|"/g, '')
  return plain(one) === plain(other)
}
