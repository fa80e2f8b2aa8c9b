// Whole messages and their parts for tests, from the fields that a test is about.

import { defaultSettings } from '../../shared/agents/policy/policy.ts'
import type {
  Call,
  CallResult,
  CallVerdict,
  Cancel,
  Declaration,
  GuardVerdict,
  ModelRequest,
  Response,
  ToolHints,
  UserMessage,
} from '../../shared/contract/messages.ts'

export function userMessage(fields: Partial<UserMessage> = {}): UserMessage {
  return {
    type: 'user-message',
    conversation: 'c',
    messageId: 'm1',
    text: 'hello',
    agent: 'agent',
    settings: defaultSettings,
    declarations: [],
    ...fields,
  }
}

export function modelRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    type: 'model-request',
    conversation: 'c',
    turn: 0,
    round: 1,
    historyRound: 0,
    nudge: null,
    callsLeft: 100,
    agent: 'agent',
    tools: [],
    settings: defaultSettings,
    expiresAt: 1_000_000,
    ...fields,
  }
}

export function cancel(fields: Partial<Cancel> = {}): Cancel {
  return { type: 'cancel', conversation: 'c', turn: 0, round: 1, expiresAt: 1_000_000, ...fields }
}

export function callWith(fields: Partial<Call> = {}): Call {
  return {
    ordinal: 0,
    id: 'id',
    name: 'exec',
    raw: '{}',
    source: 'deltas',
    problem: null,
    repair: null,
    disputed: false,
    ...fields,
  }
}

export function resultWith(fields: Partial<CallResult> = {}): CallResult {
  return {
    ordinal: 0,
    status: 'ok',
    text: 'done',
    reason: '',
    durationMs: 1,
    contents: [],
    tokens: null,
    guard: '',
    ...fields,
  }
}

export function declarationWith(fields: Partial<Declaration> = {}): Declaration {
  return {
    name: 'exec',
    description: '',
    schema: '{}',
    idempotent: false,
    timeoutMs: 1_000,
    poll: false,
    hints: null,
    ...fields,
  }
}

export function responseWith(fields: Partial<Response> = {}): Response {
  return {
    attempt: 'a',
    text: '',
    reasoning: '',
    calls: [],
    stop: 'calls',
    finish: '',
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    textCalls: null,
    ...fields,
  }
}

/** Default: allow. */
export function verdictWith(fields: Partial<CallVerdict> = {}): CallVerdict {
  return { ordinal: 0, verdict: 'allow', code: '', text: '', evidence: null, ...fields }
}

export function guardVerdictWith(fields: Partial<GuardVerdict> = {}): GuardVerdict {
  return {
    type: 'guard-verdict',
    conversation: 'c',
    turn: 0,
    round: 1,
    guard: 'shell',
    version: '1',
    verdicts: [],
    intervention: null,
    clearedAt: 0,
    judgedMs: 1,
    enforces: [],
    deadlineMs: 1_000,
    ...fields,
  }
}

/** The hints of a tool without any. */
export const noHints: ToolHints = {
  mutates: null,
  ignoreFields: [],
  loopKey: [],
  denial: null,
  labels: [],
  client: false,
  once: null,
}
