// Agents on the official SDKs: each asks its model until an answer has no call, at most 25 times. They
// reject calls that break the schema, as such agents do.

import Anthropic from '@anthropic-ai/sdk'
import { type Message, Ollama } from 'ollama'
import OpenAI from 'openai'
import { callsIn, type GeminiContent, geminiClient, textIn } from './gemini/client.ts'

/** `requests`: answers of the model that the agent got. `reply`: the text that ended its turn. */
export type AgentRun = { requests: number; reply: string | undefined }
export type SdkAgent = (url: string, isStreamed: boolean) => Promise<AgentRun>

const roundsMax = 25
const question = 'List the files.'
const rejected = 'Error: exec needs the parameter cmd'
const parameters = {
  type: 'object' as const,
  properties: { cmd: { type: 'string' } },
  required: ['cmd'],
}

async function messagesAgent(url: string, isStreamed: boolean): Promise<AgentRun> {
  const client = new Anthropic({ baseURL: url, apiKey: 'dummy', maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  for (let requests = 1; requests <= roundsMax; requests += 1) {
    const request = {
      model: 'm',
      max_tokens: 100,
      messages,
      tools: [{ name: 'exec', input_schema: parameters }],
    }
    const { content } = isStreamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    const calls = content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0)
      return { requests, reply: content.map((block) => 'text' in block && block.text).join('') }
    messages.push({ role: 'assistant', content })
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: rejected,
        is_error: true,
      })),
    })
  }
  return { requests: roundsMax, reply: undefined }
}

async function chatAgent(url: string, isStreamed: boolean): Promise<AgentRun> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'dummy', maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
  for (let requests = 1; requests <= roundsMax; requests += 1) {
    const request = {
      model: 'm',
      messages,
      tools: [{ type: 'function' as const, function: { name: 'exec', parameters } }],
    }
    const { choices } = isStreamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = choices[0]?.message
    if (message === undefined || (message.tool_calls ?? []).length === 0)
      return { requests, reply: message?.content ?? undefined }
    messages.push(message)
    for (const { id } of message.tool_calls ?? [])
      messages.push({ role: 'tool', tool_call_id: id, content: rejected })
  }
  return { requests: roundsMax, reply: undefined }
}

async function responsesAgent(url: string, isStreamed: boolean): Promise<AgentRun> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'dummy', maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: question }]
  for (let requests = 1; requests <= roundsMax; requests += 1) {
    const request = {
      model: 'm',
      input,
      store: false,
      tools: [{ type: 'function' as const, name: 'exec', parameters, strict: false }],
    }
    const { output, output_text: reply } = isStreamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request)
    const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    if (calls.length === 0) return { requests, reply }
    input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
    for (const { call_id } of calls)
      input.push({ type: 'function_call_output', call_id, output: rejected })
  }
  return { requests: roundsMax, reply: undefined }
}

async function geminiAgent(url: string, isStreamed: boolean): Promise<AgentRun> {
  const client = geminiClient(url)
  const contents: GeminiContent[] = [{ role: 'user', parts: [{ text: question }] }]
  const tools = [{ functionDeclarations: [{ name: 'exec', parametersJsonSchema: parameters }] }]
  for (let requests = 1; requests <= roundsMax; requests += 1) {
    const { parts } = await client({ contents, tools }, { isStreamed })
    const calls = callsIn(parts)
    if (calls.length === 0) return { requests, reply: textIn(parts) }
    contents.push({ role: 'model', parts })
    const results = calls.map(({ id, name }) => ({
      functionResponse: { id, name, response: { error: rejected } },
    }))
    contents.push({ role: 'user', parts: results })
  }
  return { requests: roundsMax, reply: undefined }
}

/** The messages of a streamed answer as one. */
export async function joinedMessage(
  parts: AsyncIterable<{ message: Message }> | { message: Message },
): Promise<Message> {
  if (!(Symbol.asyncIterator in parts)) return parts.message
  const message: Message = { role: 'assistant', content: '' }
  for await (const { message: one } of parts) {
    message.content += one.content
    if (one.thinking) message.thinking = `${message.thinking ?? ''}${one.thinking}`
    if (one.tool_calls) message.tool_calls = [...(message.tool_calls ?? []), ...one.tool_calls]
  }
  return message
}

/** A server takes a result for that of the oldest open call of its tool. */
async function ollamaAgent(url: string, isStreamed: boolean): Promise<AgentRun> {
  const client = new Ollama({ host: url })
  const messages: Message[] = [{ role: 'user', content: question }]
  const tools = [{ type: 'function', function: { name: 'exec', description: '', parameters } }]
  for (let requests = 1; requests <= roundsMax; requests += 1) {
    const request = { model: 'm', messages, tools }
    const message = await joinedMessage(
      isStreamed
        ? await client.chat({ ...request, stream: true })
        : await client.chat({ ...request, stream: false }),
    )
    const calls = message.tool_calls ?? []
    if (calls.length === 0) return { requests, reply: message.content }
    messages.push(message)
    for (const { function: called } of calls)
      messages.push({ role: 'tool', tool_name: called.name, content: rejected })
  }
  return { requests: roundsMax, reply: undefined }
}

export const sdkAgents: [string, SdkAgent][] = [
  ['Messages', messagesAgent],
  ['Chat Completions', chatAgent],
  ['Responses', responsesAgent],
  ['Gemini', geminiAgent],
  ['Ollama', ollamaAgent],
]
