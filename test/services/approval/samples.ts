// A round of conversation `c`: one call needs a person, another one does not. Also the decisions on
// it.

import type { Approval } from '../../../services/approval/approval.ts'
import { type ApprovalRound, approvalRound } from '../../../services/approval/approval-round.ts'
import type {
  ApprovalAnswered,
  ApprovalAsked,
  ApprovalWithdrawn,
  Tick,
} from '../../../shared/contract/messages.ts'

export const place = { conversation: 'c', turn: 7, round: 2 }
export const clearedAt = 1_000
export const until = 61_000
/** Ten seconds remain for the verdict to reach the executor. */
export const expiresAt = 51_000
export const rules = JSON.stringify([
  { name: 'production', tools: ['deploy'], pattern: { path: 'env', matches: '^prod' } },
])

export const prod = {
  ordinal: 0,
  name: 'deploy',
  arguments: '{"env":"prod", "count":3}',
  source: null,
  program: null,
  requested: null,
  question: null,
}
export const test = {
  ordinal: 1,
  name: 'deploy',
  arguments: '{"env":"test"}',
  source: null,
  program: null,
  requested: null,
  question: null,
}
export const prodToo = {
  ordinal: 2,
  name: 'deploy',
  arguments: '{"env":"prod-2"}',
  source: null,
  program: null,
  requested: null,
  question: null,
}

export function approvalAsked(fields: Partial<ApprovalAsked> = {}): ApprovalAsked {
  const times = { clearedAt, deadlineMs: until - clearedAt, until }
  return {
    type: 'approval-asked',
    ...place,
    agent: 'releaser',
    calls: [prod, test],
    rules,
    version: 'v',
    ...times,
    input: 0,
    ...fields,
  }
}

/** The decision of a person who saw the round `of`. */
export function answer(
  fields: Partial<ApprovalAnswered> = {},
  of: ApprovalAsked = approvalAsked(),
): ApprovalAnswered {
  const { ordinal = 0 } = fields
  const { id, hash } = approvalOf(approvalRound(of), ordinal).request
  return {
    type: 'approval-answered',
    ...place,
    ordinal,
    id,
    hash,
    answer: 'allow',
    by: 'ann',
    reason: '',
    input: 0,
    values: null,
    identity: 'claimed',
    ...fields,
  }
}

export function withdrawal(...ordinals: number[]): ApprovalWithdrawn {
  return {
    type: 'approval-withdrawn',
    ...place,
    calls: ordinals.map((ordinal) => ({ ordinal, reason: 'vetoed by guard shell: secrets' })),
    input: 0,
  }
}

export const tick: Tick = { type: 'tick', conversation: 'c', unit: '["c",7,2]' }

export function approvalOf(round: ApprovalRound, ordinal: number): Approval {
  const found = round.approvals.find(({ request }) => request.ordinal === ordinal)
  if (found === undefined) throw new Error(`call ${ordinal} waits for nobody`)
  return found
}
