// Records of one turn of conversation `c`, with a call of a tool that must not run twice and one of
// a tool that may.

import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type {
  Call,
  CallResult,
  Cancel,
  Claim,
  Declaration,
  Lapsed,
  Outcome,
  Policy,
  RoundCleared,
  Tick,
  TurnEnded,
} from '../../../shared/contract/messages.ts'
import { callWith, declarationWith, resultWith } from '../../support/messages.ts'

export const place = { conversation: 'c', turn: 7 }
export const unit = '["c",7]'
export const expiresAt = 1_000_000

export const policy: Policy = {
  ...defaultPolicy,
  startWithinMs: 10_000,
  graceMs: 5_000,
  toolTries: 3,
}

export const mail: Declaration = declarationWith({
  name: 'mail',
  description: 'Sends a message.',
  schema: '{"type":"object"}',
  timeoutMs: 60_000,
})
export const look: Declaration = {
  ...mail,
  name: 'look',
  description: 'Looks something up.',
  idempotent: true,
}

/** From a claim's append time to its deadline. */
export const claimMs = policy.startWithinMs + mail.timeoutMs + policy.graceMs

export function callOf(ordinal: number, fields: Partial<Call> = {}): Call {
  return callWith({ ordinal, id: `id${ordinal}`, name: 'mail', raw: `{"n":${ordinal}}`, ...fields })
}

export function roundCleared(fields: Partial<RoundCleared> = {}): RoundCleared {
  return {
    type: 'round-cleared',
    ...place,
    round: 1,
    agent: 'agent',
    policy,
    expiresAt,
    calls: [callOf(0)],
    decided: [],
    declarations: [mail, look],
    extendedTo: null,
    ...fields,
  }
}

export function claim(owner: string, fields: Partial<Claim> = {}): Claim {
  return { type: 'claim', ...place, round: 1, ordinal: 0, try: 1, owner, ...fields }
}

export function outcome(
  owner: string,
  result: CallResult | null,
  fields: Partial<Outcome> = {},
): Outcome {
  const of = { ...place, round: 1, ordinal: 0, try: 1 }
  return { type: 'outcome', ...of, owner, result, goesOn: false, ...fields }
}

export function lapsed(owner: string, fields: Partial<Lapsed> = {}): Lapsed {
  return { type: 'lapsed', ...place, round: 1, ordinal: 0, try: 1, owner, ...fields }
}

export function ok(text = 'done', fields: Partial<CallResult> = {}): CallResult {
  return resultWith({ text, durationMs: 12, ...fields })
}

export const cancel: Cancel = { type: 'cancel', ...place, round: 1, expiresAt }
export const turnEnded: TurnEnded = { type: 'turn-ended', ...place }
export const tick: Tick = { type: 'tick', conversation: 'c', unit }
