// The agent loop without Weir over Chat Completions, like agent-loop-floor.ts: the SDK's own
// streaming, and nothing is stored or checked. `call`: the tool.

import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { clientKey, maxOutputTokens, question, system, tool } from './agent-loop-conversation.ts'
import type { Loop } from './measured-loop.ts'

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } }

export function openChatFloor(
  url: string,
  fetch: typeof globalThis.fetch,
  call: (input: string) => Promise<string>,
): Loop {
  const client = new OpenAI({ apiKey: clientKey, baseURL: url, maxRetries: 0, fetch })
  const { name, description, schema } = tool
  const tools = [{ type: 'function' as const, function: { name, description, parameters: schema } }]

  async function respond(
    messages: ChatCompletionMessageParam[],
    onText: ((text: string) => void) | undefined,
  ): Promise<{ content: string; calls: Call[] }> {
    const stream = await client.chat.completions.create({
      model: 'bench',
      max_completion_tokens: maxOutputTokens,
      tools,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    let content = ''
    const calls: Call[] = []
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta
      content += delta?.content ?? ''
      if (delta?.content) onText?.(delta.content)
      for (const piece of delta?.tool_calls ?? []) {
        calls[piece.index] ??= {
          id: piece.id ?? '',
          type: 'function',
          function: { name: piece.function?.name ?? '', arguments: '' },
        }
        const call = calls[piece.index]
        if (call !== undefined) call.function.arguments += piece.function?.arguments ?? ''
      }
    }
    return { content, calls }
  }

  return {
    async converse(_, onText) {
      const messages: ChatCompletionMessageParam[] = [
        { role: 'system', content: system },
        { role: 'user', content: question },
      ]
      for (;;) {
        const { content, calls } = await respond(messages, onText)
        if (calls.length === 0) return content
        messages.push({ role: 'assistant', content, tool_calls: calls })
        const results = calls.map(async ({ id, function: { arguments: input } }) => ({
          role: 'tool' as const,
          tool_call_id: id,
          // As a loop does that reads the arguments: parsed, and sent as JSON again.
          content: await call(JSON.stringify(JSON.parse(input))),
        }))
        messages.push(...(await Promise.all(results)))
      }
    },
    close: async () => {},
  }
}
