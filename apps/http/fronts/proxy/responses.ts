// OpenAI's Responses in the terms of the proxy.

import { responseReading } from '../../../../shared/wire/openai-responses/reading.ts'
import { receivedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { eventStream, type Json, listIn, type ProxyApi, textIn } from './api.ts'

export const responses: ProxyApi = {
  path: '/responses',
  format: 'openai-responses',
  history: 'input',
  elsewhere: (body) =>
    (['previous_response_id', 'conversation', 'prompt'] as const).find(
      (name) => body[name] !== undefined && body[name] !== null,
    ) ?? (body.background === true ? 'background' : undefined),
  hasTools: ({ tools }) => listIn(tools).some(({ type }) => isOfClient(type)),
  isCall: ({ type }) => type === 'function_call' || type === 'custom_tool_call',
  isOfModel: ({ type, role }) =>
    role === 'assistant' || /^(reasoning|function_call|custom_tool_call)$/.test(String(type)),
  userText: ({ type = 'message', role, content }) =>
    type === 'message' && role === 'user' ? textIn(content, ['input_text', 'text']) : undefined,

  ownAnswer({ id, model, text, isStreamed }) {
    const part = { type: 'output_text', text, annotations: [], logprobs: [] }
    const item = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [part],
    }
    const response = {
      id,
      object: 'response',
      created_at: 0,
      status: 'completed',
      model,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      output: [item],
      parallel_tool_calls: true,
      tool_choice: 'none',
      tools: [],
      temperature: null,
      top_p: null,
      usage: {
        input_tokens: 0,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 0,
      },
    }
    return isStreamed ? eventStream(eventsOf(response, item, part), true) : JSON.stringify(response)
  },

  read: (answer) => receivedAnswer(responseReading({ secret: [], model: '' }), answer),

  assembled: ({ text, calls, usage, stop }) => ({
    object: 'response',
    ...(stop === 'length'
      ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      : { status: 'completed' }),
    output: [
      ...(text === ''
        ? []
        : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]),
      ...calls.map(({ id, name, raw }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: raw,
      })),
    ],
    usage: {
      input_tokens: usage.inputTokens + usage.cacheReadTokens,
      output_tokens: usage.outputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
    },
  }),
}

/** A tool of an unknown type may be the client's. */
function isOfClient(type: unknown): boolean {
  return !/^(web_search|file_search|code_interpreter|image_generation|mcp$|tool_search)/.test(
    String(type),
  )
}

function eventsOf(
  response: Json,
  item: Json & { id: string },
  part: Json & { text: string },
): Json[] {
  const place = { item_id: item.id, output_index: 0, content_index: 0 }
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: part.text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ]
  return events.map((event, n) => ({ ...event, sequence_number: n }))
}
