// The differences between the vendors' APIs, for suites that hold for all of them: the request of the
// agent in samples.ts, and the pieces of an answer.

import type { ProviderName } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { chunk, sse } from '../../support/provider-streams.ts'

type Json = Record<string, unknown>

/** A whole answer. `args`: the arguments of its call of `read`, as JSON. */
export type Whole = { text?: string; args?: string; stop?: 'end' | 'calls' | 'length' | undefined }

export type Vendor = {
  provider: ProviderName
  host: string
  /** The path below the server's address, in `model.baseUrl`. */
  root: string
  /** The request of the agent with the tool `read`. */
  sent: { url: string; headers: Record<string, string>; body: Json }
  /** Variables that the vendor's SDK reads. `HERE` is replaced with an address. */
  environment: Record<string, string>
  /** Headers that these variables would set. */
  environmentHeaders: string[]
  /** A part of a stream with this text. */
  text: (words: string) => string
  /** A part of a stream with a whole call of `read`. */
  call: (args: string) => string
  /** The finish reason of a text or of calls, and nothing after it. */
  finish: (stop: 'end' | 'calls') => string
  /** The rest of a stream after its finish reason. */
  rest: string
  /** The vendor's words for these ends. */
  words: { end: string; calls: string }
  /** The tokens of `finish` and `rest`. */
  usage: { inputTokens: number; outputTokens: number }
  /** A part of a stream whose JSON breaks off. */
  garbage: string
  /** A part of a stream with an error that a repeat may help against. */
  error: (message: string) => string
  /** The body of a server that does not stream. Without `stop` it names no end. */
  whole: (answer: Whole) => string
  /** The end of a whole answer with calls that names no end. */
  unnamedEnd: 'cut' | 'calls'
  /** True: the stream has an end mark, so its reader can leave an open connection. */
  hasEndMark: boolean
}

const event = (fields: Json) => sse(String(fields.type), JSON.stringify(fields))
const data = (fields: Json) => chunk(JSON.stringify(fields))
/** JSON with these digits in place of `"ARGS"`. */
const withArgs = (body: Json, args: string) => JSON.stringify(body).replace('"ARGS"', args)

const anthropic: Vendor = {
  provider: 'anthropic',
  host: 'api.anthropic.com',
  root: '',
  sent: {
    url: '/v1/messages',
    headers: { authorization: 'Bearer KEY' },
    body: { model: 'some-model', stream: true, max_tokens: 1000, tools: [{ name: 'read' }] },
  },
  environment: { ANTHROPIC_BASE_URL: 'HERE', ANTHROPIC_CUSTOM_HEADERS: 'x-team: red' },
  environmentHeaders: ['x-team'],
  text: (words) =>
    event({ type: 'ping' }) +
    event({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    }) +
    event({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: words },
    }),
  call: (args) =>
    event({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c1', name: 'read', input: {} },
    }) +
    event({
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: args },
    }) +
    event({ type: 'content_block_stop', index: 1 }),
  finish: (stop) =>
    event({
      type: 'message_delta',
      delta: { stop_reason: anthropic.words[stop] },
      usage: { output_tokens: 2 },
    }),
  rest: event({ type: 'message_stop' }),
  words: { end: 'end_turn', calls: 'tool_use' },
  usage: { inputTokens: 0, outputTokens: 2 },
  garbage: chunk('{"type": "content_bl'),
  error: (message) => event({ type: 'error', error: { type: 'overloaded_error', message } }),
  whole: ({ text, args, stop }) =>
    withArgs(
      {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        usage: { input_tokens: 0, output_tokens: 2 },
        stop_reason:
          stop === undefined ? null : stop === 'length' ? 'max_tokens' : anthropic.words[stop],
        content: [
          ...(text === undefined ? [] : [{ type: 'text', text }]),
          ...(args === undefined
            ? []
            : [{ type: 'tool_use', id: 'c1', name: 'read', input: 'ARGS' }]),
        ],
      },
      args ?? '',
    ),
  unnamedEnd: 'cut',
  hasEndMark: true,
}

/** Variables of OpenAI's SDK. */
const openaiVariables = {
  environment: {
    OPENAI_BASE_URL: 'HERE',
    OPENAI_ORG_ID: 'o',
    OPENAI_PROJECT_ID: 'p',
    OPENAI_ADMIN_KEY: 'k',
    OPENAI_CUSTOM_HEADERS: 'x-team: red',
  },
  environmentHeaders: ['openai-organization', 'openai-project', 'x-team'],
}

const chat: Vendor = {
  provider: 'openai-chat',
  host: 'api.openai.com',
  root: '/v1',
  sent: {
    url: '/v1/chat/completions',
    headers: { authorization: 'Bearer KEY' },
    body: {
      model: 'some-model',
      stream: true,
      max_tokens: 1000,
      tools: [{ type: 'function', function: { name: 'read' } }],
    },
  },
  ...openaiVariables,
  text: (content) => data({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  call: (args) =>
    data({
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: args } }],
          },
        },
      ],
    }),
  finish: (stop) => data({ choices: [{ index: 0, delta: {}, finish_reason: chat.words[stop] }] }),
  rest: data({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } }) + chunk('[DONE]'),
  words: { end: 'stop', calls: 'tool_calls' },
  usage: { inputTokens: 9, outputTokens: 2 },
  garbage: chunk('{"choices": [{"del'),
  error: (message) => sse('error', JSON.stringify({ error: { message, type: 'server_error' } })),
  whole: ({ text, args, stop }) =>
    JSON.stringify({
      choices: [
        {
          index: 0,
          message: {
            content: text ?? null,
            ...(args !== undefined && {
              tool_calls: [
                { id: 'c1', type: 'function', function: { name: 'read', arguments: args } },
              ],
            }),
          },
          finish_reason: stop === undefined ? null : stop === 'length' ? stop : chat.words[stop],
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    }),
  unnamedEnd: 'cut',
  hasEndMark: true,
}

const item = (args: string) => ({
  type: 'function_call',
  id: 'f1',
  call_id: 'c1',
  name: 'read',
  arguments: args,
  status: 'completed',
})

const responses: Vendor = {
  provider: 'openai-responses',
  host: 'api.openai.com',
  root: '/v1',
  sent: {
    url: '/v1/responses',
    headers: { authorization: 'Bearer KEY' },
    body: {
      model: 'some-model',
      stream: true,
      store: false,
      max_output_tokens: 1000,
      tools: [{ type: 'function', name: 'read' }],
    },
  },
  ...openaiVariables,
  text: (words) =>
    event({ type: 'response.output_text.delta', item_id: 'm1', output_index: 0, delta: words }),
  call: (args) => event({ type: 'response.output_item.done', output_index: 1, item: item(args) }),
  finish: () =>
    event({
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [],
        usage: { input_tokens: 9, output_tokens: 2 },
      },
    }),
  rest: '',
  words: { end: 'completed', calls: 'completed' },
  usage: { inputTokens: 9, outputTokens: 2 },
  garbage: chunk('{"type": "response.out'),
  error: (message) => event({ type: 'error', code: 'server_error', message }),
  whole: ({ text, args, stop }) =>
    JSON.stringify({
      object: 'response',
      ...(stop !== undefined && { status: stop === 'length' ? 'incomplete' : 'completed' }),
      ...(stop === 'length' && { incomplete_details: { reason: 'max_output_tokens' } }),
      output: [
        ...(text === undefined
          ? []
          : [{ type: 'message', id: 'm1', content: [{ type: 'output_text', text }] }]),
        ...(args === undefined ? [] : [item(args)]),
      ],
      usage: { input_tokens: 9, output_tokens: 2 },
    }),
  unnamedEnd: 'calls',
  hasEndMark: true,
}

const candidate = (parts: Json[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }],
})
const geminiUsage = { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } }

const gemini: Vendor = {
  provider: 'gemini',
  host: 'generativelanguage.googleapis.com',
  root: '',
  sent: {
    url: '/v1beta/models/some-model:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'KEY' },
    body: {
      generationConfig: { maxOutputTokens: 1000 },
      tools: [{ functionDeclarations: [{ name: 'read' }] }],
    },
  },
  environment: { GOOGLE_GEMINI_BASE_URL: 'HERE', GEMINI_API_KEY: 'k', GOOGLE_API_KEY: 'k' },
  environmentHeaders: [],
  text: (words) => data(candidate([{ text: words }])),
  call: (args) =>
    chunk(withArgs(candidate([{ functionCall: { id: 'c1', name: 'read', args: 'ARGS' } }]), args)),
  finish: () => data({ ...candidate([], 'STOP'), ...geminiUsage }),
  rest: '',
  words: { end: 'STOP', calls: 'STOP' },
  usage: { inputTokens: 9, outputTokens: 2 },
  garbage: chunk('{"candidates": [{"con'),
  error: (message) => data({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  whole: ({ text, args, stop }) =>
    withArgs(
      {
        ...candidate(
          [
            ...(text === undefined ? [] : [{ text }]),
            ...(args === undefined
              ? []
              : [{ functionCall: { id: 'c1', name: 'read', args: 'ARGS' } }]),
          ],
          stop && (stop === 'length' ? 'MAX_TOKENS' : gemini.words[stop]),
        ),
        ...geminiUsage,
      },
      args ?? '',
    ),
  unnamedEnd: 'cut',
  hasEndMark: false,
}

export const vendors: readonly Vendor[] = [anthropic, chat, responses, gemini]

/** The stream of an answer with this text. */
export const textAnswer = (vendor: Vendor, words: string): string =>
  vendor.text(words) + vendor.finish('end') + vendor.rest

export function vendorNamed(name: string): Vendor {
  const vendor = vendors.find(({ provider }) => provider === name)
  if (vendor === undefined) throw new Error(`no vendor ${name}`)
  return vendor
}
