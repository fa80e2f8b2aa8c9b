// One call that waits for a person, from the moment it is asked about until it is decided: pending,
// then approved, rejected, expired or withdrawn, for good. Owns: the call's id, and what a decision
// does and says. Does not own: which calls wait (rules.ts), the other calls of the round
// (asked-round.ts).
//
// APPROVAL-1. An approval is for one call with exactly its bytes: its hash is of the tool and the
//     argument text, its id of that and of the call's place.
// APPROVAL-2. The first decision counts. A later one changes nothing, and its answer says what was
//     decided before, when, and by whom.
// APPROVAL-3. Time decides like a person: at or after `expiresAt` the call is rejected, whatever
//     comes then, also an approval in the same millisecond.

import { createHash } from 'node:crypto'
import { withdrawnCode } from '../../shared/contract/approval-guard.ts'
import type { RoundId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  CallVerdict,
  PendingCall,
} from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cutToBytes, onOneLine, shortened } from '../../shared/lib/text-cut.ts'

/** What a person is asked about. */
export type Request = RoundId &
  Pick<ApprovalAsked, 'agent'> &
  PendingCall & { askedAt: Milliseconds; expiresAt: Milliseconds }

export type Approval =
  | { kind: 'pending'; request: Request }
  | { kind: 'approved'; request: Request; by: string; at: Milliseconds }
  | { kind: 'rejected'; request: Request; by: string; reason: string; at: Milliseconds }
  | { kind: 'expired'; request: Request; at: Milliseconds }
  | { kind: 'withdrawn'; request: Request; reason: string; at: Milliseconds }

export type Decided = Exclude<Approval, { kind: 'pending' }>

export function hashOf(tool: string, argumentText: string): string {
  return createHash('sha256').update(`${tool}\0${argumentText}`).digest('hex')
}

/**
 * 60 bits in Crockford's base 32, `k7f3-9qxm-2b4d`: short enough to type, too many to be met by
 * chance. Whoever may write arguments and tries 2^30 of them can make two calls meet in one; so a
 * decision under an id that two calls wait under is refused, and counts for the call whose whole
 * hash it names.
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

/** An id as people type it: without dashes, in capitals, with an O for a zero. */
export function idFrom(text: string): string {
  const characters = text
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
  return characters.replace(/(.{4})(?=.)/g, '$1-')
}

/** What a person's word makes of it; itself where the word does not fit or comes too late. */
export function answered(
  approval: Approval,
  { id, hash, answer, by, reason }: ApprovalAnswered,
  time: Milliseconds,
): Approval {
  const now = expired(approval, time)
  const { request } = now
  if (now.kind !== 'pending' || id !== request.id || hash !== request.hash) return now
  const who = shortened(onOneLine(by), limits.approvalByBytesMax)
  if (answer === 'approve') return { kind: 'approved', request, by: who, at: time }
  return {
    kind: 'rejected',
    request,
    by: who,
    reason: cutToBytes(reason.trim(), limits.approvalReasonBytesMax),
    at: time,
  }
}

/** Nobody waits for it any more: it was decided otherwise. */
export function withdrawn(approval: Approval, reason: string, time: Milliseconds): Approval {
  return approval.kind === 'pending'
    ? { kind: 'withdrawn', request: approval.request, reason, at: time }
    : approval
}

/** What time alone does to it. */
export function expired(approval: Approval, now: Milliseconds): Approval {
  if (approval.kind !== 'pending' || now < approval.request.expiresAt) return approval
  return { kind: 'expired', request: approval.request, at: approval.request.expiresAt }
}

/**
 * The verdict that it stands for. A withdrawn one has a word too, because a guard must say
 * something of each of its calls; it counts for nothing.
 */
export function verdictOf(approval: Decided): CallVerdict {
  const { ordinal, name } = approval.request
  const reject = (code: string, text: string, evidence: string | null): CallVerdict => ({
    ordinal,
    verdict: 'reject',
    code,
    text,
    evidence,
  })
  switch (approval.kind) {
    case 'approved':
      return { ordinal, verdict: 'pass', code: '', text: '', evidence: null }
    case 'rejected': {
      const why =
        approval.reason === '' ? 'No reason was given.' : `The reason given: "${approval.reason}".`
      const text = `a person rejected this call of ${name}. ${why} Do not send the same call again; go on without it, or ask the user.`
      return reject('approval.rejected', text, `by ${approval.by}`)
    }
    case 'expired': {
      const text = `${name} needs a person's approval for these arguments, and nobody gave it in time. Go on without it, or tell the user that an approval is needed.`
      return reject('approval.expired', text, null)
    }
    case 'withdrawn':
      return reject(withdrawnCode, 'it was decided otherwise before a person could.', null)
    default:
      return unreachable(approval)
  }
}

/** For whoever decided, when it counted: what is so now. */
export function countedText({ kind, request: { name, id } }: Approval): string {
  return kind === 'approved'
    ? `Approved: ${id}. ${name} may run with exactly these arguments.`
    : `Rejected: ${id}. ${name} does not run, and the model is told why.`
}

/** For whoever decided, when it did not count. */
export function alreadyText(approval: Approval): string {
  const { id } = approval.request
  const nothing = `Nothing was changed: ${id}`
  switch (approval.kind) {
    case 'pending':
      return `${nothing} waits for a decision on other arguments than those that were decided about. Look at it again and decide anew.`
    case 'approved':
      return `${nothing} was approved by ${approval.by} at ${instant(approval.at)}. The call may have run already.`
    case 'rejected':
      return `${nothing} was rejected by ${approval.by} at ${instant(approval.at)}.`
    case 'expired':
      return `${nothing} was rejected because nobody decided before ${instant(approval.at)}.`
    case 'withdrawn':
      return `${nothing} was decided otherwise at ${instant(approval.at)}${approval.reason === '' ? '' : ` (${approval.reason})`}.`
    default:
      return unreachable(approval)
  }
}

function instant(time: Milliseconds): string {
  return new Date(time).toISOString()
}
