// Activity records of a turn, made from the fields that a test is about.

import type { Activity } from '../../client/edge/edge.ts'
import type {
  CallFinished,
  Caps,
  Part,
  PartEvent,
  TurnFinished,
} from '../../shared/contract/messages.ts'

const place = { conversation: 'c', turn: 7 }

export const turnStarted = (fields: { turn?: number; messageId?: string } = {}): Activity => ({
  type: 'turn-started',
  parent: null,
  ...place,
  messageId: 'm',
  agent: 'agent',
  ...fields,
})

export const roundStarted = (
  round = 1,
  fields: { turn?: number; callsLeft?: number; nudged?: boolean; caps?: Caps } = {},
): Activity => ({
  type: 'round-started',
  ...place,
  round,
  callsLeft: 100,
  nudged: false,
  key: '',
  turnKey: '',
  caps: null,
  ...fields,
})

export const callDenied = (reason: string, name = 'exec'): Activity => ({
  type: 'call-denied',
  ...place,
  round: 1,
  ordinal: 0,
  name,
  reason,
  text: 'Tool call rejected before execution.',
})

export const toolStarted = (
  ordinal = 0,
  fields: { name?: string; turn?: number; round?: number } = {},
): Activity => ({
  type: 'tool-started',
  ...place,
  round: 1,
  ordinal,
  try: 1,
  name: 'exec',
  ...fields,
})

export const callFinished = (ordinal = 0, fields: Partial<CallFinished> = {}): CallFinished => ({
  type: 'call-finished',
  ...place,
  round: 1,
  ordinal,
  name: 'exec',
  status: 'ok',
  reason: '',
  durationMs: 300,
  result: 'done',
  resultId: '',
  guard: '',
  resultBytes: 4,
  ...fields,
})

export const interventionRaised = (rule: string, reason: string, shadow = false): Activity => ({
  type: 'intervention-raised',
  ...place,
  round: 3,
  intervention: {
    action: 'nudge',
    ordinary: false,
    rule,
    ruleVersion: 1,
    key: 'exec({})',
    reason,
    text: 'SYSTEM INTERVENTION',
    class: null,
    evidence: [],
  },
  shadow,
})

export const turnFinished = (fields: Partial<TurnFinished> = {}): TurnFinished => ({
  type: 'turn-finished',
  ...place,
  messageId: 'm',
  outcome: 'answered',
  reply: 'Done.',
  reason: 'the model answered',
  class: null,
  cap: null,
  totals: { rounds: 2, calls: 1, inputTokens: 120, outputTokens: 30, wallMs: 3_210 },
  ...fields,
})

/** A part of one attempt; a text is visible text. */
export function part(
  i: number,
  events: (string | Partial<PartEvent>)[],
  fields: { attempt?: string; round?: number; turn?: number } = {},
): Part {
  const whole = events.map((event) => (typeof event === 'string' ? { text: event } : event))
  const blank: PartEvent = { kind: 'text', index: 0, id: null, name: null, text: '' }
  return {
    type: 'part',
    ...place,
    round: 1,
    attempt: 'a',
    i,
    events: whole.map((event) => ({ ...blank, ...event })),
    ...fields,
  }
}
