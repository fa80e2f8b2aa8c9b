// Events of a turn for the tests of chat protocols: the fields that a test does not name are filled.

import type { TurnEvent } from '../../../../client/weir.ts'
import { withArguments } from '../../../../shared/contract/call/call-arguments.ts'

type Fields = { type: TurnEvent['type']; turn?: number; round?: number } & Record<string, unknown>

const place = { v: 2, position: '1', conversation: 'c', turn: 7, round: 1 }

const defaults: Partial<Record<TurnEvent['type'], object>> = {
  'turn-started': { messageId: 'm', agent: 'helper', parent: null },
  'call-denied': {
    ordinal: 0,
    name: 'look',
    reason: 'bad',
    text: '',
    arguments: null,
    rawArguments: '',
  },
  'call-finished': {
    ordinal: 0,
    name: 'look',
    status: 'ok',
    reason: '',
    durationMs: 1,
    result: '',
    rawResult: '',
  },
  'approval-decided': { ordinal: 0, name: 'look', id: 'k7f3', by: '', reason: '', waitedMs: 1 },
  'turn-finished': {
    messageId: 'm',
    outcome: 'answered',
    reply: '',
    reason: '',
    class: null,
    cap: null,
    totals: { rounds: 1, calls: 0, inputTokens: 3, outputTokens: 2, wallMs: 1 },
  },
}

/** An event of turn 7 of the conversation c, in its round 1. */
export function event(fields: Fields): TurnEvent {
  const result = 'result' in fields ? { rawResult: fields.result } : {}
  return { ...place, ...defaults[fields.type], ...result, ...fields } as unknown as TurnEvent
}

/** A response with calls of the tool look. `inputs`: null for arguments that are no JSON object. */
export function answered(text: string, ...inputs: (Record<string, unknown> | null)[]): TurnEvent {
  const calls = inputs.map((input, ordinal) => ({
    ordinal,
    id: 'same',
    name: 'look',
    problem: input === null ? 'invalid_json' : null,
    arguments: input,
    rawArguments: input === null ? '{bad' : JSON.stringify(input),
    argumentsBytes: 4,
  }))
  const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 1, cacheWriteTokens: 0 }
  return event({
    type: 'model-answered',
    attempt: 'a',
    text,
    textBytes: text.length,
    usage,
    calls,
    stop: calls.length === 0 ? 'end' : 'calls',
  })
}

/** The call of this ordinal waits for a person, under the id k7f3. `text`: its arguments. */
export function pending(ordinal = 0, text = '{}'): TurnEvent {
  const call = { ordinal, name: 'look', id: 'k7f3', hash: 'h', rule: 'ask-first' }
  const known = { source: null, program: null, question: null }
  const calls = [{ ...withArguments({ ...call, arguments: text }), ...known }]
  return event({ type: 'approval-pending', calls, until: 60_000 })
}
