// Hand-made records of one conversation, as in the topics.

import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type {
  Call,
  CallResult,
  Declaration,
  Intervention,
  Message,
  Policy,
  Response,
} from '../../../shared/contract/messages.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import {
  callWith,
  declarationWith,
  modelRequest,
  responseWith,
  resultWith,
  userMessage,
} from '../../support/messages.ts'

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }

export const declaration: Declaration = declarationWith({
  description: 'runs a command',
  schema: '{"type":"object"}',
  idempotent: true,
  timeoutMs: 10_000,
})

export const exec = (fields: Partial<Call> = {}): Call =>
  callWith({ id: 'toolu_1', raw: '{"command":"ls"}', ...fields })

export const result = (fields: Partial<CallResult> = {}): CallResult =>
  resultWith({ text: 'ran: ls', durationMs: 40, ...fields })

export const response = (fields: Partial<Response> = {}): Response =>
  responseWith({ attempt: 'a1', stop: 'end', finish: 'end_turn', usage, ...fields })

export const nudge: Intervention = {
  action: 'nudge',
  ordinary: false,
  rule: 'identical-failure',
  ruleVersion: 5,
  key: 'exec({})',
  reason: 'exec({}) failed in 3 rounds',
  text: 'SYSTEM INTERVENTION',
  class: null,
  evidence: [{ round: 1, ordinal: 0 }],
}

/** A log for one line at a time. Each line is a millisecond later, unless a time is given. */
export function conversationLog({
  conversation = 'c',
  policy = defaultPolicy,
}: {
  conversation?: string
  policy?: Policy
} = {}) {
  const records: Logged[] = []
  const ends = new Map<TopicName, number>()
  let time = 1_000

  function write(
    topic: TopicName,
    message: Message,
    { at = time + 1, id }: { at?: number; id?: string } = {},
  ): void {
    time = at
    const offset = ends.get(topic) ?? 0
    ends.set(topic, offset + 1)
    records.push({ topic, offset, time, id, message })
  }

  const turn0 = { conversation, turn: 0 }
  const place = (round: number) => ({ ...turn0, round })
  const judged = { agent: 'agent', policy, callsLeft: 100, expiresAt: 1_000_000 }

  return {
    records,
    write,

    begin(fields: { messageId?: string; text?: string } = {}) {
      const { messageId = 'm1', text = 'hello' } = fields
      write('conversation-events', userMessage({ conversation, messageId, text }))
      write('history', {
        type: 'history-entry',
        redact: [],
        ...place(0),
        user: text,
        response: null,
        results: [],
        contents: [],
        afterTurn: null,
        nudge: null,
        note: null,
      })
      write('activity', { type: 'turn-started', ...turn0, messageId, agent: 'agent', parent: null })
    },

    ask(round: number, fields: { nudge?: string | null; callsLeft?: number } = {}) {
      write(
        'model-requests',
        modelRequest({ conversation, round, historyRound: round - 1, ...fields }),
      )
      write('model-deltas', {
        type: 'model-opened',
        ...place(round),
        offered: ['exec'],
        expiresAt: 1_000_000,
      })
    },

    attempt(round: number, attempt = 'a1') {
      write('model-requests', {
        type: 'attempt-started',
        ...place(round),
        attempt,
        owner: 'g1',
        weir: '',
      })
    },

    attemptFailed(round: number, attempt: string) {
      const why = {
        reason: 'the provider answered 529: overloaded',
        class: 'transient',
        retryable: true,
        retryAfterMs: 1_000,
        historyRefused: false,
        historyShortened: false,
        toolsRefused: false,
        reasoningRefused: 'none',
      } as const
      write('model-requests', { type: 'attempt-failed', ...place(round), attempt, ...why })
    },

    part(round: number, attempt: string, text: string, kind: 'reasoning' | 'text' = 'reasoning') {
      const event = { kind, index: 0, id: null, name: null, text } as const
      write('model-deltas', { type: 'part', ...place(round), attempt, i: 0, events: [event] })
    },

    answer(round: number, reply: Response) {
      const { attempt, stop, finish } = reply
      const answered = {
        attempt,
        parts: 1,
        finish,
        stop,
        usage,
        declarations: [declaration],
        policy,
        callsAsText: false,
        textCalls: 'tell' as const,
        echoOf: null,
        rest: [],
      }
      write('model-requests', { type: 'attempt-finished', ...place(round), ...answered })
      write('model-deltas', {
        type: 'model-finished',
        ...place(round),
        ...answered,
        ...judged,
        failure: null,
      })
      const folded = { response: reply, failure: null, declarations: [declaration], ...judged }
      write('rounds-proposed', {
        type: 'round-proposed',
        ...place(round),
        ...folded,
        offered: ['exec'],
      })
    },

    check(
      round: number,
      reply: Response,
      denials: Extract<Message, { type: 'round-checked' }>['denials'] = [],
    ) {
      const checked = {
        response: reply,
        failure: null,
        denials,
        declarations: [declaration],
        ...judged,
      }
      write('rounds-checked', { type: 'round-checked', ...place(round), ...checked })
    },

    clear(round: number, calls: Call[], decided: CallResult[] = []) {
      write('rounds-cleared', {
        type: 'round-cleared',
        ...place(round),
        calls,
        decided,
        declarations: [declaration],
        extendedTo: null,
        ...judged,
      })
    },

    claim(round: number, fields: { ordinal?: number; try?: number; owner?: string } = {}) {
      write('rounds-cleared', {
        type: 'claim',
        ...place(round),
        ordinal: 0,
        try: 1,
        owner: 'e1',
        ...fields,
      })
    },

    start(round: number, fields: { ordinal?: number; try?: number } = {}) {
      write('activity', {
        type: 'tool-started',
        ...place(round),
        ordinal: 0,
        try: 1,
        name: 'exec',
        ...fields,
      })
    },

    lapse(round: number) {
      write('rounds-cleared', { type: 'lapsed', ...place(round), ordinal: 0, try: 1, owner: 'e1' })
    },

    outcome(round: number, its: CallResult | null, fields: { try?: number; owner?: string } = {}) {
      write('rounds-cleared', {
        type: 'outcome',
        ...place(round),
        ordinal: 0,
        try: 1,
        owner: 'e1',
        result: its,
        goesOn: false,
        ...fields,
      })
    },

    executed(round: number, results: CallResult[]) {
      for (const { ordinal, status, reason, durationMs, text } of results)
        write('activity', {
          type: 'call-finished',
          ...place(round),
          ordinal,
          name: 'exec',
          status,
          reason,
          durationMs,
          result: text,
          resultId: '',
          guard: '',
          resultBytes: text.length,
        })
      write('rounds-checked', { type: 'round-executed', ...place(round), results, wishes: [] })
    },

    conclude(
      round: number,
      reply: Response,
      results: CallResult[] = [],
      intervention: Intervention | null = null,
    ) {
      const outcome = { response: reply, failure: null, results, intervention, policy }
      write('conversation-events', { type: 'round-outcome', ...place(round), ...outcome })
      write('history', {
        type: 'history-entry',
        redact: [],
        ...place(round),
        user: null,
        response: reply,
        results,
        contents: [],
        afterTurn: null,
        nudge: null,
        note: null,
      })
    },

    shadow(round: number, intervention: Intervention) {
      write('activity', {
        type: 'intervention-raised',
        ...place(round),
        intervention,
        shadow: true,
      })
    },

    end(reply: string, fields: Partial<Extract<Message, { type: 'turn-finished' }>> = {}) {
      const totals = { rounds: 1, calls: 0, inputTokens: 10, outputTokens: 5, wallMs: 20 }
      const how = {
        outcome: 'answered',
        reason: 'the model answered',
        class: null,
        cap: null,
      } as const
      write('activity', {
        type: 'turn-finished',
        ...turn0,
        messageId: 'm1',
        ...how,
        reply,
        totals,
        ...fields,
      })
    },
  }
}
