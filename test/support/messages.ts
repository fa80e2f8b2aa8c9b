// Whole messages for tests, from the fields that a test is about.

import { defaultSettings } from '../../shared/agents/agents.ts'
import type { Cancel, ModelRequest, UserMessage } from '../../shared/contract/messages.ts'

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
