// A conversation on an official SDK, one request at a time. The SDK reads and checks each answer.

import Anthropic from '@anthropic-ai/sdk'
import { type ChatResponse, type Message, Ollama } from 'ollama'
import OpenAI from 'openai'
import { callsIn, type GeminiContent, geminiClient, textIn } from '../gemini/client.ts'
import { joinedMessage } from '../sdk-clients.ts'

/** `input`: with cached tokens. */
export type SdkAnswer = {
  text: string
  calls: { id: string; args: unknown }[]
  usage: { input: number; output: number }
}

export type SdkChat = {
  say(text: string): void
  /** The results of the calls of the last answer. */
  results(text: string): void
  ask(signal?: AbortSignal): Promise<SdkAnswer>
}

export type SdkOptions = { isStreamed: boolean; headers?: Record<string, string> }

const parameters = {
  type: 'object' as const,
  properties: { cmd: { type: 'string' } },
  required: ['cmd'],
}

function messagesChat(url: string, { isStreamed, headers = {} }: SdkOptions): SdkChat {
  const options = { baseURL: url, apiKey: 'dummy', maxRetries: 0, defaultHeaders: headers }
  const client = new Anthropic(options)
  const messages: Anthropic.MessageParam[] = []
  let last: Anthropic.ToolUseBlock[] = []
  return {
    say: (content) => void messages.push({ role: 'user', content }),
    results(text) {
      const content = last.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: text,
        is_error: text.startsWith('Error'),
      }))
      messages.push({ role: 'user', content })
    },
    async ask(signal) {
      const tools = [{ name: 'exec', input_schema: parameters }]
      const request = { model: 'm', max_tokens: 100, messages: [...messages], tools }
      const { content, usage } = isStreamed
        ? await client.messages.stream(request, { signal }).finalMessage()
        : await client.messages.create(request, { signal })
      messages.push({ role: 'assistant', content })
      last = content.filter((block) => block.type === 'tool_use')
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: last.map(({ id, input }) => ({ id, args: input })),
        usage: {
          input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
          output: usage.output_tokens,
        },
      }
    },
  }
}

function chatChat(url: string, { isStreamed, headers = {} }: SdkOptions): SdkChat {
  const base = { baseURL: `${url}/v1`, apiKey: 'dummy', maxRetries: 0, defaultHeaders: headers }
  const client = new OpenAI(base)
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  let last: OpenAI.ChatCompletionMessageToolCall[] = []
  return {
    say: (content) => void messages.push({ role: 'user', content }),
    results(content) {
      for (const { id } of last) messages.push({ role: 'tool', tool_call_id: id, content })
    },
    async ask(signal) {
      const tools = [{ type: 'function' as const, function: { name: 'exec', parameters } }]
      const request = { model: 'm', messages: [...messages], tools }
      const counted = { ...request, stream_options: { include_usage: true } }
      const { choices, usage } = isStreamed
        ? await client.chat.completions.stream(counted, { signal }).finalChatCompletion()
        : await client.chat.completions.create(request, { signal })
      const message = choices[0]?.message
      if (message === undefined) throw new Error('no message')
      messages.push(message)
      last = message.tool_calls ?? []
      return {
        text: message.content ?? '',
        calls: last.flatMap((call) =>
          call.type === 'function'
            ? [{ id: call.id, args: JSON.parse(call.function.arguments) as unknown }]
            : [],
        ),
        usage: { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 },
      }
    },
  }
}

function responsesChat(url: string, { isStreamed, headers = {} }: SdkOptions): SdkChat {
  const base = { baseURL: `${url}/v1`, apiKey: 'dummy', maxRetries: 0, defaultHeaders: headers }
  const client = new OpenAI(base)
  const input: OpenAI.Responses.ResponseInputItem[] = []
  let last: OpenAI.Responses.ResponseFunctionToolCall[] = []
  return {
    say: (content) => void input.push({ role: 'user', content }),
    results(output) {
      for (const { call_id } of last) input.push({ type: 'function_call_output', call_id, output })
    },
    async ask(signal) {
      const tool = { type: 'function' as const, name: 'exec', parameters, strict: false }
      const request = { model: 'm', input: [...input], store: false, tools: [tool] }
      const { output, output_text, usage } = isStreamed
        ? await client.responses.stream(request, { signal }).finalResponse()
        : await client.responses.create(request, { signal })
      last = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
      return {
        text: output_text,
        calls: last.map(({ call_id: id, arguments: args }) => ({
          id,
          args: JSON.parse(args) as unknown,
        })),
        usage: { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 },
      }
    },
  }
}

function geminiChat(url: string, { isStreamed, headers }: SdkOptions): SdkChat {
  const client = geminiClient(url, headers)
  const contents: GeminiContent[] = []
  let last: ReturnType<typeof callsIn> = []
  return {
    say: (text) => void contents.push({ role: 'user', parts: [{ text }] }),
    results(text) {
      const response = text.startsWith('Error') ? { error: text } : { output: text }
      const parts = last.map(({ id, name }) => ({ functionResponse: { id, name, response } }))
      contents.push({ role: 'user', parts })
    },
    async ask(signal) {
      const tools = [{ functionDeclarations: [{ name: 'exec', parametersJsonSchema: parameters }] }]
      const request = { contents: [...contents], tools }
      const { parts, usage } = await client(request, { isStreamed, signal })
      contents.push({ role: 'model', parts })
      last = callsIn(parts)
      return {
        text: textIn(parts),
        calls: last.map(({ id = '', args }) => ({ id, args })),
        usage: {
          input: Number(usage.promptTokenCount ?? 0),
          output: Number(usage.candidatesTokenCount ?? 0),
        },
      }
    },
  }
}

function ollamaChat(url: string, { isStreamed, headers = {} }: SdkOptions): SdkChat {
  const messages: Message[] = []
  let last: { id?: string; function: { name: string; arguments: unknown } }[] = []
  return {
    say: (content) => void messages.push({ role: 'user', content }),
    results(content) {
      for (const { id, function: called } of last)
        messages.push({
          role: 'tool',
          tool_name: called.name,
          content,
          ...(id && { tool_call_id: id }),
        })
    },
    async ask(signal = new AbortController().signal) {
      const client = new Ollama({
        host: url,
        headers,
        fetch: (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
          fetch(input, { ...init, signal }),
      })
      const tools = [{ type: 'function', function: { name: 'exec', description: '', parameters } }]
      const request = { model: 'm', messages: [...messages], tools }
      const parts: ChatResponse[] = []
      if (isStreamed)
        for await (const part of await client.chat({ ...request, stream: true })) parts.push(part)
      else parts.push(await client.chat({ ...request, stream: false }))
      const message = await joinedMessage(listed(parts))
      messages.push(message)
      last = message.tool_calls ?? []
      const { prompt_eval_count: input = 0, eval_count: output = 0 } = parts.at(-1) ?? {}
      return {
        text: message.content,
        calls: last.map(({ id = '', function: called }) => ({ id, args: called.arguments })),
        usage: { input, output },
      }
    },
  }
}

async function* listed(parts: ChatResponse[]): AsyncGenerator<ChatResponse> {
  yield* parts
}

export const sdkChats: [string, (url: string, options: SdkOptions) => SdkChat][] = [
  ['Messages', messagesChat],
  ['Chat Completions', chatChat],
  ['Responses', responsesChat],
  ['Gemini', geminiChat],
  ['Ollama', ollamaChat],
]

/** Each SDK with whole and with streamed answers. */
export const sdkForms = sdkChats.flatMap(([name, open]) =>
  [false, true].map((isStreamed) => ({
    name: `${name}, ${isStreamed ? 'streamed' : 'whole'}`,
    open,
    isStreamed,
  })),
)
