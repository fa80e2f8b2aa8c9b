// A host that changes its model's calls, as the requests show: Claude Code by headers, or a host
// that no profile knows. Its model is scripted; its tools answer by a function.

import type { ServerResponse } from 'node:http'
import type { Received } from '../scripted-upstream.ts'

export type ScriptedCall = { name: string; input: string }

/** Changes a call as the host runs and shows it. */
export type Rewrite = (call: { name: string; input: Record<string, unknown> | string }) => unknown

/** The changes of Claude Code 2.1 in the folder /w, as seen in its requests. */
export const asClaudeCode: Rewrite = ({ name, input }) => {
  if (typeof input === 'string') return { __unparsedToolInput: { raw: input, len: input.length } }
  const { command, timeout, content, new_string: text, ...rest } = input
  return {
    ...(name === 'Edit' && { replace_all: false }),
    ...rest,
    ...(typeof command === 'string' && { command: command.replace(/^cd \/w && /, '') }),
    ...(timeout !== undefined && { timeout: Number(timeout) }),
    ...(typeof content === 'string' && { content: content.replace(/[ \t]+$/gm, '') }),
    ...(typeof text === 'string' && { new_string: text.replace(/[ \t]+$/gm, '') }),
  }
}

const schemaOf = (required: Record<string, string>) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(required).map(([name, type]) => [name, { type }])),
  required: Object.keys(required),
})

const tools = [
  {
    name: 'Bash',
    input_schema: {
      ...schemaOf({ command: 'string' }),
      properties: { command: { type: 'string' }, timeout: { type: 'number' } },
    },
  },
  { name: 'Edit', input_schema: schemaOf({ file_path: 'string', new_string: 'string' }) },
  { name: 'Write', input_schema: schemaOf({ file_path: 'string', content: 'string' }) },
]

/** Answers request `n` with the calls `script(n)`. Without any, or if calls are forbidden: a text. */
export function scriptedModel(
  script: (n: number) => readonly ScriptedCall[],
  idOf = (n: number, at: number) => `toolu_${n}_${at}`,
): (request: Received, response: ServerResponse, n: number) => void {
  return ({ body: bytes }, response, n) => {
    const body = JSON.parse(bytes.toString()) as { tool_choice?: { type?: string } }
    const calls = body.tool_choice?.type === 'none' ? [] : script(n)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of answerEvents(calls, (at) => idOf(n, at)))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }
}

function answerEvents(calls: readonly ScriptedCall[], idOf: (at: number) => string) {
  const message = {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 2 },
  }
  const blocks =
    calls.length === 0
      ? [
          [
            { type: 'text', text: '' },
            { type: 'text_delta', text: finalText },
          ],
        ]
      : calls.map(({ name, input }, at) => [
          { type: 'tool_use', id: idOf(at), name, input: {} },
          { type: 'input_json_delta', partial_json: input },
        ])
  const stop_reason = calls.length === 0 ? 'end_turn' : 'tool_use'
  return [
    { type: 'message_start', message },
    ...blocks.flatMap(([content_block, delta], index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
}

export const finalText = 'I am done.'

type Block = Record<string, unknown> & { type: string }
type ToolResult = { text: string; isError?: boolean }

export type HostRun = { requests: number; reply: string; notes: string[] }

export type HostOptions = {
  rewrite: Rewrite
  /** Default: those of Claude Code. */
  headers?: Record<string, string>
  resultOf: (call: { name: string; input: unknown }, n: number) => ToolResult
  /** Changes the messages before each request, such as by compaction. */
  shown?: (messages: unknown[]) => unknown[]
  requestsMax?: number
}

const claudeHeaders = { 'x-claude-code-session-id': '1f0c2c52-0000-4000-8000-000000000001' }

/** Runs one turn of the host until an answer has no calls. */
export async function runHost(
  url: string,
  {
    rewrite,
    headers = claudeHeaders,
    resultOf,
    shown = (all) => all,
    requestsMax = 30,
  }: HostOptions,
): Promise<HostRun> {
  const messages: unknown[] = [{ role: 'user', content: [{ type: 'text', text: 'build it' }] }]
  const notes: string[] = []
  for (let n = 1; n <= requestsMax; n += 1) {
    const response = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model: 'm',
        max_tokens: 100,
        stream: true,
        tools,
        system: [{ type: 'text', text: 'You are an agent.\n - Primary working directory: /w\n' }],
        messages: shown(messages),
      }),
    })
    notes.push(response.headers.get('x-weir') ?? '')
    const blocks = blocksIn(await response.text())
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    const reply = blocks.map(({ text }) => text ?? '').join('')
    if (calls.length === 0) return { requests: n, reply, notes }
    const run = calls.map((call) => {
      const input = parsed(`${call.partial}`)
      return { id: call.id, name: `${call.name}`, input: rewrite({ name: `${call.name}`, input }) }
    })
    messages.push({
      role: 'assistant',
      content: run.map((call) => ({ type: 'tool_use', ...call })),
    })
    messages.push({
      role: 'user',
      content: run.map((call) => {
        const { text, isError = false } = resultOf(call, n)
        return { type: 'tool_result', tool_use_id: call.id, content: text, is_error: isError }
      }),
    })
  }
  return { requests: requestsMax, reply: '', notes }
}

function blocksIn(stream: string): Block[] {
  const blocks: Block[] = []
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data: ')) continue
    const event = JSON.parse(line.slice(6)) as Record<string, Block> & { index: unknown }
    if (event.content_block !== undefined)
      blocks[Number(event.index)] = { partial: '', ...event.content_block }
    const block = blocks[Number(event.index)]
    if (block === undefined || event.delta === undefined) continue
    if (event.delta.partial_json !== undefined) block.partial += `${event.delta.partial_json}`
    if (event.delta.text !== undefined) block.text = `${block.text ?? ''}${event.delta.text}`
  }
  return blocks
}

function parsed(text: string): Record<string, unknown> | string {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
