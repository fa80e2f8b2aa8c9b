// One call that waits for a person, from the moment it is asked about until it is decided: pending, then approved, rejected or expired, for good.
// Owns: what a decision does and what is answered to whoever made it. Does not own: which calls wait (rules.ts), topics and the command line.
//
// B1. An approval is for one call with exactly its arguments: its id is a hash of both, and a decision names the hash that the person saw.
// B2. The first decision counts. A later one changes nothing, and its answer says what was decided before, when, and by whom.
// B3. Time decides like a person: at or after `expiresAt` the call is rejected, whatever comes then, also an approval in the same millisecond.

import type { Milliseconds } from '../../../shared/clock.ts'
import type { GuardedCall, GuardedRound, Verdict } from '../../../shared/guard.ts'
import { sha256Of } from './canonical-json.ts'

/** What a person is asked about. `hash`: of the tool and its arguments (RFC 8785, SHA-256, in hex). */
export type Request = {
  id: string
  hash: string
  conversation: string
  turn: number
  round: number
  ordinal: number
  tool: string
  /** Why it waits, for people. */
  rule: string
  askedAt: Milliseconds
  expiresAt: Milliseconds
}

export type Approval =
  | { kind: 'pending'; request: Request }
  | { kind: 'approved'; request: Request; by: string; at: Milliseconds }
  | { kind: 'rejected'; request: Request; by: string; reason: string; at: Milliseconds }
  | { kind: 'expired'; request: Request; at: Milliseconds }

export type Decision = { id: string; hash: string; by: string; at: Milliseconds } & (
  | { kind: 'approve' }
  | { kind: 'reject'; reason: string }
)

/** For whoever decided: whether it counted, and in words what is so now. */
export type Answer = { counted: boolean; text: string }

/** A call of a round as a request. Throws a RangeError for arguments that have no canonical form; such a call is to be rejected. */
export function requestFor(round: GuardedRound, call: GuardedCall, rule: string, waitMs: Milliseconds): Request {
  const { conversation, turn, round: number, time } = round
  const { ordinal, tool } = call
  const hash = sha256Of({ arguments: call.arguments, tool })
  const id = sha256Of({ conversation, hash, ordinal, round: number, turn }).slice(0, idCharacters)
  return { id, hash, conversation, turn, round: number, ordinal, tool, rule, askedAt: time, expiresAt: time + waitMs }
}

/** 80 bits: short enough to type, too many to meet by chance. */
const idCharacters = 20

export function decided(approval: Approval, decision: Decision): { approval: Approval; answer: Answer } {
  const now = expired(approval, decision.at)
  const { request } = now
  if (now.kind !== 'pending') return { approval: now, answer: { counted: false, text: alreadyText(now) } }
  if (decision.id !== request.id || decision.hash !== request.hash) {
    const text = `Nothing was changed: the decision was made for other arguments than those of the waiting call ${request.id}. Look at it again and decide anew.`
    return { approval: now, answer: { counted: false, text } }
  }
  const { by, at } = decision
  const next: Approval =
    decision.kind === 'approve' ? { kind: 'approved', request, by, at } : { kind: 'rejected', request, by, reason: decision.reason, at }
  const text =
    decision.kind === 'approve'
      ? `Approved: ${request.tool} runs with exactly these arguments.`
      : `Rejected: ${request.tool} does not run, and the model is told why.`
  return { approval: next, answer: { counted: true, text } }
}

/** What time alone does to it. */
export function expired(approval: Approval, now: Milliseconds): Approval {
  if (approval.kind !== 'pending' || now < approval.request.expiresAt) return approval
  return { kind: 'expired', request: approval.request, at: approval.request.expiresAt }
}

/** The answer to a decision about a call of which nothing is known (any more). */
export function unknownAnswer(id: string): Answer {
  return { counted: false, text: `Nothing was changed: no call waits under the id ${id}. Either it never did, or its turn is over.` }
}

/** The verdict that it stands for; undefined while it is pending. */
export function verdictOf(approval: Approval): Verdict | undefined {
  const { ordinal, tool } = approval.request
  switch (approval.kind) {
    case 'pending':
      return undefined
    case 'approved':
      return { ordinal, verdict: 'pass' }
    case 'rejected': {
      const reason = approval.reason.trim().slice(0, reasonCharacters)
      const why = reason === '' ? 'No reason was given.' : `The reason given: "${reason}".`
      const text = `a person rejected this call of ${tool}. ${why} Do not send the same call again; go on without it, or ask the user.`
      return { ordinal, verdict: 'reject', code: 'approval.rejected', text, evidence: `by ${approval.by.slice(0, byCharacters)}` }
    }
    case 'expired': {
      const text = `${tool} needs a person's approval for these arguments, and nobody gave it in time. Go on without it, or tell the user that an approval is needed.`
      return { ordinal, verdict: 'reject', code: 'approval.expired', text }
    }
    default:
      return unreachableKind(approval)
  }
}

const reasonCharacters = 500
const byCharacters = 200

function alreadyText(approval: Exclude<Approval, { kind: 'pending' }>): string {
  const { request } = approval
  const at = new Date(approval.at).toISOString()
  switch (approval.kind) {
    case 'approved':
      return `Nothing was changed: ${request.id} was approved by ${approval.by} at ${at}. The call may have run already.`
    case 'rejected':
      return `Nothing was changed: ${request.id} was rejected by ${approval.by} at ${at}.`
    case 'expired':
      return `Nothing was changed: ${request.id} was rejected because nobody decided before ${at}.`
  }
}

function unreachableKind(approval: never): never {
  throw new Error(`unreachable: ${JSON.stringify(approval)?.slice(0, 200)}`)
}
