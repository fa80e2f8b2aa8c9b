// The ends of the calls that a guard let run, folded from the records of their inbox. A guard folds
// these records in any case, so nobody sends it results.
// A call is followed until its end, or until the next round or the end of its turn. Then
// a call without a claim never ran, and one with a claim may have run (test/models/once.py).
// A guest claims nothing, so its call may have run once the guard allowed it. Only a
// denial by another guard in time promises that it did not.

import { noResultInTime, promisesNeverRan, skippedCall } from '../../contract/call/call-endings.ts'
import type { EndedCall, GuardedRound } from '../../contract/guard/guard.ts'
import { type CallId, callKey } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type {
  CallResult,
  CallVerdict,
  Cancel,
  Claim,
  GuardVerdict,
  Lapsed,
  Message,
  Outcome,
  ResultSent,
  RoundCleared,
  TurnEnded,
} from '../../contract/messages.ts'
import { clientOwner, isGuest } from '../../contract/topology.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { cutToBytes } from '../../lib/text-cut.ts'

export type EndRecord =
  | RoundCleared
  | TurnEnded
  | Cancel
  | Claim
  | Outcome
  | ResultSent
  | Lapsed
  | GuardVerdict

const endTypes: ReadonlySet<string> = new Set<EndRecord['type']>([
  'round-cleared',
  'turn-ended',
  'cancel',
  'claim',
  'outcome',
  'result-sent',
  'lapsed',
  'guard-verdict',
])

export function isEndRecord(message: Message): message is EndRecord {
  return endTypes.has(message.type)
}

/**
 * `since`: the append time of its round. `claim`: the first one of the newest try. `mayHaveRun`: an
 * earlier try has no result, or a guest may have run it.
 */
type Followed = CallId & {
  since: Milliseconds
  claim: { try: number; owner: string } | undefined
  mayHaveRun: boolean
}

/** Of a conversation and those that its calls began. Plain data, so a fork can copy it. */
export type CallEnds = { followed: Map<string, Followed>; ended: EndedCall[] }

export function createCallEnds(): CallEnds {
  return { followed: new Map(), ended: [] }
}

/** Follows the calls of a judged round that may run. */
export function follow(
  { followed }: CallEnds,
  { calls, conversation, turn, round, time: since }: GuardedRound,
  verdicts: readonly CallVerdict[],
): void {
  for (const { ordinal, enforced } of calls) {
    const isDenied = verdicts.some((one) => one.ordinal === ordinal && one.verdict === 'deny')
    if (isDenied && enforced) continue
    const id = { conversation, turn, round, ordinal }
    const mayHaveRun = isGuest(conversation)
    followed.set(callKey(id), { ...id, since, claim: undefined, mayHaveRun })
    for (const [oldest] of followed) {
      if (followed.size <= limits.guardFollowedCallsMax) break
      followed.delete(oldest) // the guard never sees its end
    }
  }
}

/** `own`: the guard whose calls are followed. `time`: of the record. */
export function applyEndRecord(
  ends: CallEnds,
  message: EndRecord,
  { own, time }: { own: string; time: Milliseconds },
): void {
  switch (message.type) {
    case 'round-cleared':
    case 'turn-ended':
      return closeRounds(
        ends,
        message,
        ({ claim, mayHaveRun }) => mayHaveRun || claim !== undefined,
      )
    case 'cancel': // a claimed call goes on
      return closeRounds(ends, message, ({ claim, mayHaveRun }) =>
        mayHaveRun || claim !== undefined ? undefined : false,
      )
    case 'guard-verdict':
      return applyDenials(ends, message, own, time)
  }
  const call = ends.followed.get(callKey(message))
  if (call === undefined) return
  switch (message.type) {
    case 'claim':
      if (call.claim?.try === message.try) return
      call.mayHaveRun ||= call.claim !== undefined
      call.claim = message
      return
    case 'lapsed':
      if (isOfClaim(call, message)) call.mayHaveRun = true
      return
    case 'outcome':
      return applyOutcome(ends, call, message)
    case 'result-sent':
      if (call.claim?.owner !== clientOwner) return // it is no call of the client
      return end(ends, call, message.isError ? 'error' : 'ok', message.text)
  }
}

function applyOutcome(ends: CallEnds, call: Followed, message: Outcome): void {
  const { result } = message
  if (isGuest(call.conversation)) {
    // Another front may have run it.
    if (result !== null && !promisesNeverRan(result.status)) endWith(ends, call, result)
  } else if (isOfClaim(call, message)) {
    call.claim = undefined
    call.mayHaveRun ||= message.goesOn === true
    if (result === null) return
    endWith(ends, call, call.mayHaveRun && result.status !== 'ok' ? noResultInTime : result)
  }
}

function isOfClaim({ claim }: Followed, { try: nth, owner }: Outcome | Lapsed): boolean {
  return claim?.try === nth && claim.owner === owner
}

/** The executor decides about a call of Weir's own agents, and its round ends. */
function applyDenials(
  ends: CallEnds,
  { guard, conversation, turn, round, verdicts, enforces, deadlineMs }: GuardVerdict,
  own: string,
  time: Milliseconds,
): void {
  if (guard === own || !isGuest(conversation)) return
  for (const { ordinal, verdict, text } of verdicts) {
    const call = ends.followed.get(callKey({ conversation, turn, round, ordinal }))
    if (call === undefined || verdict !== 'deny' || !enforces.includes(ordinal)) continue
    if (time < call.since + deadlineMs) end(ends, call, 'denied', text)
  }
}

/** `mayHaveRun`: undefined for a call that stays open. */
function closeRounds(
  ends: CallEnds,
  message: RoundCleared | TurnEnded | Cancel,
  mayHaveRun: (call: Followed) => boolean | undefined,
): void {
  const round = message.type === 'round-cleared' ? message.round : Number.POSITIVE_INFINITY
  for (const call of [...ends.followed.values()]) {
    if (call.conversation !== message.conversation || call.turn > message.turn) continue
    if (call.turn === message.turn && call.round >= round) continue
    const mayRun = mayHaveRun(call)
    if (mayRun !== undefined) endWith(ends, call, mayRun ? noResultInTime : skippedCall('expired'))
  }
}

function endWith(
  ends: CallEnds,
  call: Followed,
  result: Pick<CallResult, 'status' | 'text'>,
): void {
  end(ends, call, result.status, result.text)
}

function end(ends: CallEnds, call: Followed, status: EndedCall['status'], text: string): void {
  const { conversation, turn, round, ordinal } = call
  ends.followed.delete(callKey(call))
  ends.ended.push({
    conversation,
    turn,
    round,
    ordinal,
    status,
    text: cutToBytes(text, limits.guardEndTextBytesMax),
  })
  if (ends.ended.length > limits.guardFollowedCallsMax) ends.ended.shift()
}
