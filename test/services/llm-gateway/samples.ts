// Samples for the gateway's tests: an agent with a tool, the entries of its history, and a
// provider's stream read to its end.

import type { Provider } from '../../../services/llm-gateway/performer/providers/providers.ts'
import type { Agent, Tool } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type {
  Call,
  CallResult,
  Declaration,
  HistoryEntry,
  PartEvent,
  Response,
} from '../../../shared/contract/messages.ts'
import type { Streamed } from '../../../shared/wire/exchange.ts'
import { callWith, declarationWith, responseWith, resultWith } from '../../support/messages.ts'

export const apiKey = 'sk-test-0123456789'

export function tool(name: string, fields: Partial<Declaration> = {}): Tool {
  const schema = JSON.stringify({
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
  })
  return {
    declaration: declarationWith({
      name,
      description: `runs ${name}`,
      schema,
      timeoutMs: 1000,
      ...fields,
    }),
    run: { kind: 'command', argv: ['true'] },
  }
}

export function agentOf(fields: Partial<Agent> = {}, model: Partial<Agent['model']> = {}): Agent {
  return {
    name: 'agent',
    system: 'You are helpful.',
    model: { provider: 'anthropic', name: 'some-model', apiKey, maxOutputTokens: 1000, ...model },
    tools: [tool('read'), tool('write')],
    settings: defaultSettings,
    ...fields,
  }
}

export function userSays(text: string, at: { turn?: number } = {}): HistoryEntry {
  return {
    type: 'history-entry',
    redact: [],
    conversation: 'c',
    turn: 0,
    round: 0,
    user: text,
    response: null,
    results: [],
    contents: [],
    afterTurn: null,
    nudge: null,
    note: null,
    ...at,
  }
}

export function modelSays(
  fields: Partial<Response>,
  at: { turn?: number; round?: number; results?: CallResult[]; nudge?: string } = {},
): HistoryEntry {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const response: Response = responseWith({ stop: 'end', finish: 'end_turn', usage, ...fields })
  return { ...userSays(''), user: null, round: 1, response, ...at }
}

export function call(fields: Partial<Call> = {}): Call {
  return callWith({ id: 'toolu_1', name: 'read', raw: '{"path":"x"}', ...fields })
}

export function result(fields: Partial<CallResult> = {}): CallResult {
  return resultWith(fields)
}

/** All events that a provider yields for one request, without its raw text. */
export async function readToEnd(
  provider: Provider | Promise<Provider>,
  options: {
    signal?: AbortSignal
    onBytes?: () => void
    history?: HistoryEntry[]
    tools?: Declaration[]
  } = {},
): Promise<{ events: PartEvent[]; ending: Exclude<Streamed, { kind: 'events' }> | undefined }> {
  const request = {
    nudge: null,
    tools: options.tools ?? [],
    textOnly: false,
    rebuilt: false,
    history: options.history ?? [userSays('hello')],
  }
  const events: PartEvent[] = []
  for await (const item of (await provider).stream(
    request,
    options.signal ?? new AbortController().signal,
    options.onBytes ?? (() => {}),
  )) {
    if (item.kind === 'events')
      events.push(...item.events.filter(({ kind }) => kind !== 'provider_said'))
    else return { events, ending: item }
  }
  return { events, ending: undefined }
}
