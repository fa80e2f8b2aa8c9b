// The other side of the agent loop's bench, as its own process, which keeps its CPU time out of the
// results. It is a provider that speaks Anthropic's Messages API or Chat Completions as server-sent
// events, one HTTP chunk for each, and a tool over a POST. All streams are built before. It
// chooses the answer by the number of assistant messages in the request. Options: a JSON object on
// the command line. Prints its URL.

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  answerTokens,
  argumentDeltas,
  type BenchProvider,
  callRounds,
  tool,
} from './agent-loop-conversation.ts'

/**
 * `provider`: default Anthropic. `toolMs`: how long the tool runs. `keepsStarts`: stores the
 * idempotency keys of its calls, for `GET /starts`. `pauseMs`: before each event of the answer, whose
 * first text is then the time of its write: nanoseconds of the clock that all processes share.
 */
export type ServerOptions = {
  provider?: BenchProvider
  toolMs: number
  keepsStarts: boolean
  pauseMs?: number
}

/** The number of tool starts, and of calls with more than one start. */
export type Starts = { starts: number; twice: number }

const firstText = 'There'
/** Each answer has another id, as those of a model have. */
const callId = 'call_of_this_answer'
const randomId = () => `call_${randomUUID()}`
const sseEnd = 'data: [DONE]\n\n'
const {
  provider = 'anthropic',
  toolMs,
  keepsStarts,
  pauseMs = 0,
} = JSON.parse(process.argv[2] ?? '') as ServerOptions
const answers = Array.from({ length: callRounds + 1 }, (_, round) =>
  provider === 'anthropic'
    ? (round < callRounds ? callEvents(round) : textEvents()).map(sse)
    : [...(round < callRounds ? callChunks(round) : textChunks()).map(sseData), sseEnd],
)
const startsByKey = new Map<string, number>()
let starts = 0

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
// The starter holds the other end: this process must not outlive it.
process.stdin.on('end', () => process.exit()).resume()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await request.toArray()).join('')
  if (request.url === '/tool') return runTool(request, body, response)
  if (request.url === '/starts') {
    const report: Starts = {
      starts,
      twice: [...startsByKey.values()].filter((count) => count > 1).length,
    }
    response.end(JSON.stringify(report))
    return
  }
  const rounds = body.split('"role":"assistant"').length - 1
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of answers[Math.min(rounds, callRounds)] ?? []) {
    if (pauseMs > 0 && rounds >= callRounds) await sleep(pauseMs)
    const text = event.replace(callId, randomId)
    response.write(pauseMs > 0 ? text.replace(firstText, String(process.hrtime.bigint())) : text)
  }
  response.end()
}

async function runTool(
  request: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> {
  starts += 1
  const key = String(request.headers['idempotency-key'])
  if (keepsStarts) startsByKey.set(key, (startsByKey.get(key) ?? 0) + 1)
  if (toolMs > 0) await sleep(toolMs)
  const { hall } = JSON.parse(body) as { hall: number }
  response.end(
    `There are ${17 + hall * 12} of them in hall ${hall}; the shelves were last counted on Monday.`,
  )
}

function argumentPieces(round: number): string[] {
  const text = JSON.stringify({
    hall: round + 1,
    article: 'A-40017',
    note: 'as the customer asked for it in the message',
  })
  const size = Math.ceil(text.length / argumentDeltas)
  return Array.from({ length: argumentDeltas }, (_, i) => text.slice(i * size, (i + 1) * size))
}

function textPieces(): string[] {
  return Array.from({ length: answerTokens }, (_, i) => (i === 0 ? firstText : ` word${i}`))
}

function callEvents(round: number): object[] {
  const input = { type: 'tool_use', id: callId, name: tool.name, input: {} }
  return message(
    input,
    argumentPieces(round).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    'tool_use',
  )
}

function textEvents(): object[] {
  return message(
    { type: 'text', text: '' },
    textPieces().map((text) => ({ type: 'text_delta', text })),
    'end_turn',
  )
}

function callChunks(round: number): object[] {
  const call = { index: 0, id: callId, type: 'function' }
  const begin = { ...call, function: { name: tool.name, arguments: '' } }
  return chunks(
    [
      { role: 'assistant', content: null, tool_calls: [begin] },
      ...argumentPieces(round).map((piece) => ({
        tool_calls: [{ index: 0, function: { arguments: piece } }],
      })),
    ],
    'tool_calls',
  )
}

function textChunks(): object[] {
  const pieces = textPieces().map((content) => ({ content }))
  return chunks([{ role: 'assistant', content: '' }, ...pieces], 'stop')
}

function chunks(deltas: object[], finish_reason: string): object[] {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench' }
  const choice = (delta: object, finish: string | null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  })
  const usage = { prompt_tokens: 400, completion_tokens: answerTokens, total_tokens: 440 }
  return [
    ...deltas.map((delta) => choice(delta, null)),
    choice({}, finish_reason),
    { ...head, choices: [], usage },
  ]
}

function message(content_block: object, deltas: object[], stop_reason: string): object[] {
  const usage = { input_tokens: 400, output_tokens: answerTokens }
  const begun = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  return [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: answerTokens },
    },
    { type: 'message_stop' },
  ]
}

function sse(event: object): string {
  return `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`
}

function sseData(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
