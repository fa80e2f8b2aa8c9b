// The requests and answers of a guest in each format, made from the turns of a transcript.

import type {
  GuestAnswer,
  GuestFormat,
  GuestRequest,
} from '../../client/guard/guest-conversation.ts'
import type { Declaration } from '../../shared/contract/messages.ts'
import type { TranscriptCall, TranscriptResponse } from '../../shared/transcript/transcript.ts'

/** `finish`: why the response ended, where it is not the usual reason. */
export type Said = Pick<TranscriptResponse, 'text' | 'calls'> & { finish?: string }
export type Turn = { user: string; responses: readonly Said[] }
type Result = { call: TranscriptCall; text: string; isError: boolean }

/** `withTools`: whether the request lists its tools. Without them each called tool takes any object. */
type Writer = {
  user(text: string): unknown[]
  response(said: Said): unknown[]
  results(results: Result[]): unknown[]
  body(messages: unknown[], tools: Declaration[] | undefined): unknown
  answer(said: Said): unknown
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text
  } catch {
    return text
  }
}

/** The response reached its limit of tokens. */
const isCut = ({ finish }: Said) => finish === 'length'

const textPart = (said: Said, part: object) => (said.text === '' ? [] : [part])

const anthropicBlocks = (said: Said) => [
  ...textPart(said, { type: 'text', text: said.text }),
  ...said.calls.map(({ id, name, arguments: input }) => ({
    type: 'tool_use',
    id,
    name,
    input: parsed(input),
  })),
]

const anthropic: Writer = {
  user: (text) => [{ role: 'user', content: text }],
  response: (said) => [{ role: 'assistant', content: anthropicBlocks(said) }],
  results: (results) => [
    {
      role: 'user',
      content: results.map(({ call, text, isError }) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: text,
        ...(isError && { is_error: true }),
      })),
    },
  ],
  body: (messages, tools) => ({
    messages,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: JSON.parse(schema),
      })),
    }),
  }),
  answer: (said) => ({
    type: 'message',
    role: 'assistant',
    content: anthropicBlocks(said),
    stop_reason: isCut(said) ? 'max_tokens' : said.calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
}

const chatMessage = (said: Said) => ({
  role: 'assistant',
  content: said.text === '' ? null : said.text,
  ...(said.calls.length > 0 && {
    tool_calls: said.calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    })),
  }),
})

const openaiChat: Writer = {
  user: (text) => [{ role: 'user', content: text }],
  response: (said) => [chatMessage(said)],
  results: (results) =>
    results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text })),
  body: (messages, tools) => ({
    messages,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: JSON.parse(schema) },
      })),
    }),
  }),
  answer: (said) => ({
    choices: [
      {
        message: chatMessage(said),
        finish_reason: isCut(said) ? 'length' : said.calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
}

const items = (said: Said) => [
  ...textPart(said, {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: said.text }],
  }),
  ...said.calls.map(({ id, name, arguments: text }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: text,
  })),
]

const openaiResponses: Writer = {
  user: (text) => [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
  response: items,
  results: (results) =>
    results.map(({ call, text }) => ({
      type: 'function_call_output',
      call_id: call.id,
      output: text,
    })),
  body: (input, tools) => ({
    input,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: JSON.parse(schema),
      })),
    }),
  }),
  answer: (said) => ({
    object: 'response',
    output: items(said),
    status: isCut(said) ? 'incomplete' : 'completed',
    ...(isCut(said) && { incomplete_details: { reason: 'max_output_tokens' } }),
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
}

const openaiAgents: Writer = {
  ...openaiResponses,
  results: (results) =>
    results.map(({ call, text }) => ({
      type: 'function_call_result',
      callId: call.id,
      name: call.name,
      status: 'completed',
      output: { type: 'text', text },
    })),
  body: (list, tools) =>
    tools === undefined ? list : (openaiResponses.body(list, tools) as object),
}

const sdkParts = (said: Said, input: (text: string) => unknown) => [
  ...textPart(said, { type: 'text', text: said.text }),
  ...said.calls.map(({ id, name, arguments: text }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: input(text),
  })),
]

const aiSdk: Writer = {
  user: (text) => [{ role: 'user', content: [{ type: 'text', text }] }],
  response: (said) => [{ role: 'assistant', content: sdkParts(said, parsed) }],
  results: (results) => [
    {
      role: 'tool',
      content: results.map(({ call, text, isError }) => ({
        type: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        output: { type: isError ? 'error-text' : 'text', value: text },
      })),
    },
  ],
  body: (prompt, tools) => ({
    prompt,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        inputSchema: JSON.parse(schema),
      })),
    }),
  }),
  answer: (said) => ({
    content: sdkParts(said, (text) => text),
    finishReason: {
      unified: isCut(said) ? 'length' : said.calls.length > 0 ? 'tool-calls' : 'stop',
      raw: undefined,
    },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  }),
}

const langchainMessage = (said: Said) => {
  const calls = said.calls.map(({ id, name, arguments: text }) => ({
    id,
    name,
    args: parsed(text),
  }))
  return {
    type: 'ai',
    content: said.text,
    tool_calls: calls.filter(({ args }) => typeof args !== 'string'),
    invalid_tool_calls: calls.filter(({ args }) => typeof args === 'string'),
    ...(isCut(said) && { response_metadata: { finish_reason: 'length' } }),
  }
}

const langchain: Writer = {
  user: (text) => [{ type: 'human', content: text }],
  response: (said) => [langchainMessage(said)],
  results: (results) =>
    results.map(({ call, text, isError }) => ({
      type: 'tool',
      tool_call_id: call.id,
      content: text,
      status: isError ? 'error' : 'success',
    })),
  body: (messages, tools) => ({
    messages,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, schema }) => ({
        name,
        description,
        schema: JSON.parse(schema),
      })),
    }),
  }),
  answer: langchainMessage,
}

const geminiParts = (said: Said) => [
  ...textPart(said, { text: said.text }),
  ...said.calls.map(({ id, name, arguments: args }) => ({
    functionCall: { ...(id !== '' && { id }), name, args: parsed(args) },
  })),
]

const gemini: Writer = {
  user: (text) => [{ role: 'user', parts: [{ text }] }],
  response: (said) => [{ role: 'model', parts: geminiParts(said) }],
  results: (results) => [
    {
      role: 'user',
      parts: results.map(({ call: { id, name }, text, isError }) => ({
        functionResponse: {
          ...(id !== '' && { id }),
          name,
          response: isError ? { error: text } : { output: text },
        },
      })),
    },
  ],
  body: (contents, tools) => ({
    contents,
    ...(tools !== undefined && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: JSON.parse(schema),
          })),
        },
      ],
    }),
  }),
  answer: (said) => ({
    candidates: [
      {
        content: { role: 'model', parts: geminiParts(said) },
        finishReason: isCut(said) ? 'MAX_TOKENS' : 'STOP',
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
}

const writers: Record<GuestFormat, Writer> = {
  anthropic,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'ai-sdk': aiSdk,
  langchain,
  'openai-agents': openaiAgents,
  gemini,
}

/** The request after these turns. `tools` undefined: it lists none. */
export function requestOf(
  format: GuestFormat,
  turns: readonly Turn[],
  tools?: Declaration[],
): GuestRequest {
  const writer = writers[format]
  const messages = turns.flatMap(({ user, responses }) => [
    ...writer.user(user),
    ...responses.flatMap((said) => {
      const results = resultsOf(said)
      return [...writer.response(said), ...(results.length === 0 ? [] : writer.results(results))]
    }),
  ])
  return { format, body: writer.body(messages, tools) }
}

export function answerOf(request: GuestRequest, said: Said): GuestAnswer {
  return { request, answer: writers[request.format].answer(said) }
}

function resultsOf({ calls }: Said): Result[] {
  return calls.flatMap((call) =>
    typeof call.result === 'object'
      ? [{ call, text: call.result.text, isError: call.result.isError }]
      : [],
  )
}

/** A response with one call. `result` undefined: it has none. */
export function saidCall(
  name: string,
  given: object | string,
  {
    id = 'call_1',
    result,
    isError = false,
  }: { id?: string; result?: string; isError?: boolean } = {},
): Said {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  return {
    text: '',
    calls: [
      {
        id,
        name,
        arguments: text,
        result: result === undefined ? undefined : { text: result, isError },
      },
    ],
  }
}

export function saidText(text: string): Said {
  return { text, calls: [] }
}
