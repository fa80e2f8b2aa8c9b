// The agent loop without Weir: the SDK's own streaming in a plain loop that calls the tool with
// fetch and writes nothing. It has no schema check, no limit and no guard. This is the cost of a
// loop written as in the SDK's documentation. `fetch`: Node's, or the cheaper HTTP client of Weir's
// gateway. The second shows how much of Weir's cost that client saves.

import Anthropic from '@anthropic-ai/sdk'
import type { ContentBlock, MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { clientKey, maxOutputTokens, question, system, tool } from './agent-loop-conversation.ts'
import { runTool } from './agent-loop-tool.ts'
import type { Loop } from './measured-loop.ts'

export function openFloor(
  url: string,
  fetch: typeof globalThis.fetch = globalThis.fetch,
  call: (input: string) => Promise<string> = (input) => runTool(fetch, url, input),
): Loop {
  const client = new Anthropic({ apiKey: clientKey, baseURL: url, maxRetries: 0, fetch })
  const tools = [
    {
      name: tool.name,
      description: tool.description,
      input_schema: tool.schema as Anthropic.Tool.InputSchema,
    },
  ]

  async function respond(messages: MessageParam[]): Promise<ContentBlock[]> {
    const stream = await client.messages.create({
      model: 'bench',
      max_tokens: maxOutputTokens,
      system,
      tools,
      messages,
      stream: true,
    })
    const blocks: ContentBlock[] = []
    const inputs: string[] = []
    for await (const event of stream) {
      if (event.type === 'content_block_start') {
        blocks[event.index] = event.content_block
        inputs[event.index] = ''
      } else if (event.type === 'content_block_delta') {
        const block = blocks[event.index]
        if (event.delta.type === 'text_delta' && block?.type === 'text')
          block.text += event.delta.text
        if (event.delta.type === 'input_json_delta') inputs[event.index] += event.delta.partial_json
      } else if (event.type === 'content_block_stop') {
        const block = blocks[event.index]
        if (block?.type === 'tool_use') block.input = JSON.parse(inputs[event.index] ?? '')
      }
    }
    return blocks
  }

  return {
    async converse() {
      const messages: MessageParam[] = [{ role: 'user', content: question }]
      for (;;) {
        const content = await respond(messages)
        messages.push({ role: 'assistant', content })
        const calls = content.filter((block) => block.type === 'tool_use')
        if (calls.length === 0)
          return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
        const results = calls.map(async ({ id, input }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: await call(JSON.stringify(input)),
        }))
        messages.push({ role: 'user', content: await Promise.all(results) })
      }
    },
    close: async () => {},
  }
}
