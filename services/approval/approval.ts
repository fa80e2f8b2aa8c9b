// One call that waits for a person: pending, then allowed, denied, expired or withdrawn, for
// good.
// Owns: the call's id, the effect of a decision and its texts. Does not own: which calls wait
// (rules.ts), the other calls of the round (approval-round.ts).
//
// An approval is for one call with exactly its bytes and its program. Its hash covers
// the tool, the argument text and the program, its id covers that hash and the call's place.
// The first decision counts. A later decision changes nothing, and the answer names the first
// decision with time and author.
// At or after `expiresAt` the call is denied. A later record changes nothing, also an
// approval in the same millisecond.
// A question is accepted only with values that fit its schema. Other
// values decide nothing.

import { createHash } from 'node:crypto'
import { valuesFor } from '../../shared/contract/call/input-question.ts'
import { allowedCode, withdrawnCode } from '../../shared/contract/guard/approval-guard.ts'
import type { RoundId } from '../../shared/contract/ids.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  CallVerdict,
  InputGiven,
  PendingCall,
  PersonIdentity,
} from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cutToBytes, onOneLine, shortened } from '../../shared/lib/text-cut.ts'
import {
  decidedOtherwise,
  nobodyDecided,
  personDenied,
} from '../../shared/model-texts/denied-calls.ts'

/** Bytes of the reason of a person's decision, and of the person's name. */
export const approvalReasonBytesMax = 2 * 1024
export const approvalByBytesMax = 512

/** The question to a person. */
export type ApprovalRequest = RoundId &
  Pick<ApprovalAsked, 'agent' | 'input'> &
  PendingCall & { askedAt: Milliseconds; expiresAt: Milliseconds }

export type Approval =
  | { kind: 'pending'; request: ApprovalRequest }
  | {
      kind: 'allow'
      request: ApprovalRequest
      by: string
      identity: PersonIdentity
      at: Milliseconds
      /** For a question. */
      values?: string
    }
  | {
      kind: 'deny'
      request: ApprovalRequest
      by: string
      identity: PersonIdentity
      reason: string
      at: Milliseconds
    }
  | { kind: 'expired'; request: ApprovalRequest; at: Milliseconds }
  | { kind: 'withdrawn'; request: ApprovalRequest; reason: string; at: Milliseconds }

export type Decided = Exclude<Approval, { kind: 'pending' }>

/** `program`: null in records of older versions, whose hash covers none. */
export function hashOf(tool: string, argumentText: string, program: string | null): string {
  const asked = program === null ? [tool, argumentText] : [tool, argumentText, program]
  return createHash('sha256').update(asked.join('\0')).digest('hex')
}

/**
 * 60 bits in Crockford's base 32, `k7f3-9qxm-2b4d`: short enough to type, too many to collide by
 * chance.
 *
 * A writer of arguments who tries 2^30 of them can give two calls one id. So a decision is refused
 * if two calls wait under its id, and it counts only for the call with its full hash.
 */
export function idOf(
  { conversation, turn, round }: RoundId,
  ordinal: number,
  hash: string,
): string {
  const bits =
    createHash('sha256')
      .update(JSON.stringify([conversation, turn, round, ordinal, hash]))
      .digest()
      .readBigUInt64BE() >> 4n
  const characters = Array.from(
    { length: 12 },
    (_, place) => base32[Number((bits >> BigInt(55 - 5 * place)) & 31n)],
  ).join('')
  return characters.replace(/(.{4})(?=.)/g, '$1-')
}

const base32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** Reads an id as people type it: without dashes, in capitals, with an O for a zero. */
export function idFrom(text: string): string {
  const characters = text
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
  return characters.replace(/(.{4})(?=.)/g, '$1-')
}

/**
 * Applies a decision. Returns the approval unchanged if the decision is for another call or too
 * late.
 */
export function applyDecision(
  approval: Approval,
  { id, hash, answer, by, identity, reason, values }: ApprovalAnswered,
  time: Milliseconds,
): Approval {
  const now = applyTime(approval, time)
  const { request } = now
  if (now.kind !== 'pending' || id !== request.id || hash !== request.hash) return now
  const author = shortened(onOneLine(by), approvalByBytesMax)
  if (answer === 'allow') {
    const allowed = { kind: 'allow' as const, request, by: author, identity, at: time }
    if (request.question === null) return allowed
    const checked = valuesFor(request.question, values)
    return 'fault' in checked ? now : { ...allowed, values: checked.values }
  }
  return {
    kind: 'deny',
    request,
    by: author,
    identity,
    reason: cutToBytes(reason.trim(), approvalReasonBytesMax),
    at: time,
  }
}

/** Applies a withdrawal: the call was decided in another way. */
export function applyWithdrawal(approval: Approval, reason: string, time: Milliseconds): Approval {
  return approval.kind === 'pending'
    ? { kind: 'withdrawn', request: approval.request, reason, at: time }
    : approval
}

/** Applies the time. */
export function applyTime(approval: Approval, now: Milliseconds): Approval {
  if (approval.kind !== 'pending' || now < approval.request.expiresAt) return approval
  return { kind: 'expired', request: approval.request, at: approval.request.expiresAt }
}

/**
 * The verdict for the executor. A withdrawn call gets one too, because a guard must give one for
 * each of its calls. The executor ignores it.
 */
export function verdictOf(approval: Decided): CallVerdict {
  const { ordinal, name } = approval.request
  const deny = (code: string, text: string, evidence: string | null): CallVerdict => ({
    ordinal,
    verdict: 'deny',
    code,
    text,
    evidence,
  })
  switch (approval.kind) {
    case 'allow':
      return {
        ordinal,
        verdict: 'allow',
        code: passCode(approval.request),
        text: '',
        evidence: null,
      }
    case 'deny': {
      const text = personDenied(name, approval.reason)
      return deny('approval.denied', text, `by ${approval.by}`)
    }
    case 'expired':
      return deny('approval.expired', nobodyDecided(name), null)
    case 'withdrawn':
      return deny(withdrawnCode, decidedOtherwise, null)
    default:
      return unreachable(approval)
  }
}

/** An executor of an older version names no program and expects no code. */
function passCode({ program }: ApprovalRequest): string {
  return program === null ? '' : allowedCode
}

/** The answer to a question, for the executor. Undefined: nobody needs it. */
export function givenOf(approval: Decided): InputGiven | undefined {
  const { conversation, turn, round, ordinal, input } = approval.request
  const place = { type: 'input-given' as const, conversation, turn, round, ordinal, input }
  switch (approval.kind) {
    case 'allow':
      return { ...place, answer: 'accept', values: approval.values ?? '{}' }
    case 'deny':
      return { ...place, answer: 'decline', values: '' }
    case 'expired':
      return { ...place, answer: 'cancel', values: '' }
    case 'withdrawn':
      return undefined
    default:
      return unreachable(approval)
  }
}
