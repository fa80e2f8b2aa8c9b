// One call of a round: the model's arguments, the verdict, each try, and the one result.

import type { Call, CallResult, MessageOf } from '../../../shared/contract/messages.ts'
import { all, first, type Logged, type Readable } from './logged.ts'
import type { CallTimeline, TryTimeline, Verdict } from './timeline.ts'

/** `ofRound`: all records of the round, in order. */
export function callOf(call: Call, ofRound: Logged[]): CallTimeline {
  const { ordinal, id, name, raw, source, problem, repair, disputed } = call
  const verdict = verdictOf(ordinal, ofRound)
  const result = resultOf(ordinal, ofRound)
  return {
    ordinal,
    id,
    name,
    raw,
    source,
    problem,
    repair,
    disputed,
    verdict,
    tries: triesOf(ordinal, ofRound),
    result:
      result === undefined
        ? null
        : {
            status: result.status,
            text: result.text,
            reason: result.reason,
            durationMs: result.durationMs,
          },
  }
}

function verdictOf(ordinal: number, ofRound: Logged[]): Verdict {
  const checked = first(ofRound, 'round-checked')
  const rejection = checked?.message.rejections.find((other) => other.ordinal === ordinal)
  const cleared = first(ofRound, 'round-cleared')
  const decided = cleared?.message.decided.find((other) => other.ordinal === ordinal)
  if (rejection !== undefined && checked !== undefined) {
    const { code, reason, text } = rejection
    return { kind: 'rejected', at: checked.time, code, reason, text }
  }
  if (cleared !== undefined && decided === undefined) return { kind: 'cleared', at: cleared.time }
  if (cleared !== undefined && decided !== undefined)
    return { kind: 'not-cleared', at: cleared.time, reason: decided.reason }
  const outcome = first(ofRound, 'round-outcome')
  if (outcome === undefined) return { kind: 'pending' }
  return {
    kind: 'not-cleared',
    at: outcome.time,
    reason: of(ordinal, outcome.message.results)?.reason ?? '',
  }
}

/**
 * The result that the conversation got; until then the executor's. The activity has no text, so it
 * cannot serve here.
 */
function resultOf(ordinal: number, ofRound: Logged[]): CallResult | undefined {
  const [final] = all(ofRound, 'round-outcome').map(({ message }) => of(ordinal, message.results))
  const [executed] = all(ofRound, 'round-executed').map(({ message }) =>
    of(ordinal, message.results),
  )
  const [decided] = all(ofRound, 'round-cleared').map(({ message }) => of(ordinal, message.decided))
  return final ?? executed ?? decided
}

function of(ordinal: number, results: CallResult[]): CallResult | undefined {
  return results.find((result) => result.ordinal === ordinal)
}

// ── Tries ──

/** Only the first claim of each try can have been accepted (EXEC-1). */
function triesOf(ordinal: number, ofRound: Logged[]): TryTimeline[] {
  const claims = all(ofRound, 'claim').filter(({ message }) => message.ordinal === ordinal)
  const firsts = new Map<number, Readable<'claim'>>()
  for (const claim of claims)
    if (!firsts.has(claim.message.try)) firsts.set(claim.message.try, claim)
  return [...firsts.values()].map((claim) => tryOf(claim, ofRound))
}

function tryOf({ time, message: claim }: Readable<'claim'>, ofRound: Logged[]): TryTimeline {
  const isOfTry = ({ message }: { message: { ordinal: number; try: number } }) =>
    message.ordinal === claim.ordinal && message.try === claim.try
  const isOfOwner = ({ message }: { message: { owner: string } }) => message.owner === claim.owner
  const started = all(ofRound, 'tool-started').find(isOfTry)
  const outcome = all(ofRound, 'outcome').find((record) => isOfTry(record) && isOfOwner(record))
  const lapsed = all(ofRound, 'lapsed').find((record) => isOfTry(record) && isOfOwner(record))
  const decided = all(ofRound, 'call-finished').find(
    ({ message }) => message.ordinal === claim.ordinal,
  )
  const isLate =
    outcome !== undefined &&
    ((decided !== undefined && decided.time < outcome.time) ||
      (lapsed !== undefined && lapsed.time <= outcome.time))
  const silent = lapsed === undefined ? 'open' : 'lapsed'
  const end = outcome === undefined ? silent : endOf(outcome.message, isLate)
  return {
    try: claim.try,
    claimedAt: time,
    owner: claim.owner,
    startedAt: started?.time ?? null,
    endedAt: (end === 'lapsed' ? lapsed : outcome)?.time ?? null,
    end,
    status: outcome?.message.result?.status ?? null,
  }
}

function endOf({ result }: MessageOf<'outcome'>, isLate: boolean): TryTimeline['end'] {
  if (isLate) return 'late'
  return result === null ? 'given-back' : 'result'
}
