// G4: a result of a guest's call is Weir's refusal, unknown, or a result that a front wrote for this
// round and call. A text that the world used once belongs to the call that made it. A hook reports a
// call id and no round, so two branches of a fork with equal call ids are one call to it, also in
// two turns.

import type { MessageOf } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  type Evidence,
  type GuestRun,
  recordsOf,
  roundKey,
} from '../../evidence.ts'
import { guestFacts } from './guest-facts.ts'

const reported = new Set(['ok', 'error'])

export const guestResultOwn: Checker = {
  name: 'guest-result-own',
  rule: 'A result of a guest is one that a front wrote for this round and call.',
  needs: [],
  check(evidence) {
    const written = resultsWritten(evidence)
    const runs = new Map(evidence.guestRuns.map((run) => [run.text, run]))
    const facts = guestFacts(evidence)
    const visible = visibleRounds(evidence)
    return recordsOf(evidence, 'round-outcome').flatMap((record) => {
      const { conversation, response, results } = record.message
      const at = addressOf(record)
      return results.flatMap(({ ordinal, status, text }) => {
        if (!reported.has(status)) return []
        const callId = response.calls.find((call) => call.ordinal === ordinal)?.id
        const place = `call ${ordinal} of ${roundKey(record.message)}`
        const isWritten = [wordsOf(response.attempt), ''].some((words) =>
          written.has(JSON.stringify([conversation, words, callId, text])),
        )
        const run = runs.get(text)
        const isAnothers =
          run !== undefined &&
          !belongs(run, record.message, ordinal, facts.nameOf(record.message), visible)
        return [
          ...(isWritten
            ? []
            : [{ problem: `${place} has a result that no front wrote: ${text}`, at }]),
          ...(isAnothers
            ? [{ problem: `${place} has the result of ${JSON.stringify(run)}`, at }]
            : []),
        ]
      })
    })
  },
}

/** By the words of its round: a front that hides rounds counts only the visible ones. */
function resultsWritten(evidence: Evidence): ReadonlySet<string> {
  return new Set(
    recordsOf(evidence, 'guest-results').flatMap(({ message }) =>
      [...message.results, ...(message.former?.results ?? [])].map(({ key, callId, text }) =>
        JSON.stringify([message.conversation, wordsOf(key), callId, text]),
      ),
    ),
  )
}

/**
 * A turn that comes back is read from the visible history, where a round after hidden ones with the
 * same words has a lower number than when it ran.
 */
function visibleRounds(evidence: Evidence): ReadonlySet<string> {
  return new Set(
    recordsOf(evidence, 'guest-round').flatMap(({ message }) =>
      message.hides ? [] : [JSON.stringify([message.conversation, message.key])],
    ),
  )
}

/** A text that several calls have belongs to all of them. */
function belongs(
  { conversation, text, call }: GuestRun,
  { conversation: of, response }: MessageOf<'round-outcome'>,
  ordinal: number,
  turnKey: string | undefined,
  visible: ReadonlySet<string>,
): boolean {
  if ('mark' in call || !text.startsWith('result ')) return true
  const { attempt } = response
  const isVisible = visible.has(JSON.stringify([of, attempt]))
  const isSameRound =
    call.key === undefined ||
    call.key === attempt ||
    (isVisible && wordsOf(call.key) === wordsOf(attempt))
  const judged = response.calls.find((one) => one.ordinal === ordinal)
  return (
    conversation === of &&
    call.callId === judged?.id &&
    (call.isForked ||
      (call.turnKey === turnKey && isSameRound && isSameJson(call.sent, judged.raw)))
  )
}

/** Clients parse arguments and write them again. */
function isSameJson(one: string, other: string): boolean {
  const plain = (text: string) => text.replace(/\s|\\|"/g, '')
  return plain(one) === plain(other)
}

/** The words of a round, without the number in its key. */
function wordsOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')))
}
