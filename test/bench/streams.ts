// The cost of reading a model's stream: adapter and accumulator together, against the same SDK's
// own accumulation of the same bytes. A second part shows that the cost stays linear. It streams
// one call's arguments of 50 KB in 1,000 pieces, then ten and a hundred times as much. A third part
// is the watch for repetition, as a share of the CPU time of reading the same stream. Its streams are
// one text of 10,000 pieces of 20 bytes, and the recorded ones.
//
// The SDK's fetch delivers the bytes, in pieces of 16 KiB. The streams are the recorded ones that
// the SDK reads without an error, or made ones if the recordings are missing. CPU time of this
// process, in laps that alternate, the median of the ratios.
//
// Not measured: the network, writing parts to the bus, coding of records. The SDK's side parses
// arguments as they grow, ours checks them at the end.

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { accumulator, type OpenRound } from '../../services/accumulator/reducer.ts'
import { RepetitionWatch } from '../../services/llm-gateway/degenerate/repetition-watch.ts'
import { partEventsMax } from '../../services/llm-gateway/performer/answer.ts'
import { connect, type Provider } from '../../services/llm-gateway/performer/providers/providers.ts'
import { defaultPolicy, defaultSettings } from '../../shared/agents/policy/policy.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { PartEvent } from '../../shared/contract/messages.ts'
import { type Api, chunk, sse, streamFixtures } from '../support/provider-streams.ts'
import type { Row } from './row.ts'

const laps = 15
const apis: Api[] = ['anthropic', 'openai-chat', 'openai-responses']

/** All rows of reading streams. */
export async function benchStreams(): Promise<Row[]> {
  const rows: Row[] = []
  for (const api of apis) {
    rows.push(await recordedRow(api))
    for (const deltas of [1_000, 10_000, 100_000]) rows.push(await longRow(api, deltas))
    rows.push(await watchRow(api, 'a text of 10,000 pieces', [textStream(api, 10_000)]))
    rows.push(await watchRow(api, 'the recorded streams', recordedBodies(api)))
  }
  return rows
}

/** The response body of the next request. */
type Answering = { bytes: Uint8Array; fetch: typeof globalThis.fetch }

function answering(): Answering {
  const own: Answering = {
    bytes: new Uint8Array(),
    fetch: () => Promise.resolve(new Response(inPieces(own.bytes), { headers })),
  }
  return own
}

const headers = { 'content-type': 'text/event-stream' }

const pieceBytes = 16 * 1024

/** In pieces, as from a network. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at + pieceBytes))
      else controller.close()
      at += pieceBytes
    },
  })
}

async function recordedRow(api: Api): Promise<Row> {
  const [ours, theirs] = await readers(api)
  const bodies: Uint8Array[] = []
  for (const body of recordedBodies(api))
    if (
      await theirs(body).then(
        () => true,
        () => false,
      )
    )
      bodies.push(body)

  const ratios: number[] = []
  const times: number[] = []
  for (let lap = 0; lap < laps + 3; lap += 1) {
    const own = await cpuMicroseconds(() => inTurn(bodies, ours))
    const sdks = await cpuMicroseconds(() => inTurn(bodies, theirs))
    if (lap < 3) continue // warming up
    ratios.push(own / sdks)
    times.push(own / bodies.length / repeats)
  }
  const name = `${api}: ${bodies.length} recorded streams, adapter and accumulator: a stream`
  return {
    name,
    value: median(times),
    unit: 'µs CPU',
    baseline: "the SDK's own accumulation",
    ratio: median(ratios),
  }
}

const repeats = 5

function recordedBodies(api: Api): Uint8Array[] {
  return (
    streamFixtures(api)?.map(({ bytes }) => new Uint8Array(bytes)) ?? [
      longStream(api, 50),
      longStream(api, 200),
    ]
  )
}

/** The watch alone, over the texts of these streams, against reading them. */
async function watchRow(api: Api, name: string, bodies: Uint8Array[]): Promise<Row> {
  const [ours, , textsOf] = await readers(api)
  const texts: string[][] = []
  for (const body of bodies) texts.push(await textsOf(body))
  const ratios: number[] = []
  const times: number[] = []
  for (let lap = 0; lap < laps + 3; lap += 1) {
    const stream = await cpuMicroseconds(() => inTurn(bodies, ours))
    const watch = await cpuMicroseconds(async () => {
      for (let n = 0; n < repeats * watchRepeats; n += 1)
        for (const pieces of texts) watched(pieces)
    })
    if (lap < 3) continue // warming up
    ratios.push(watch / watchRepeats / stream)
    times.push(watch / watchRepeats / repeats / bodies.length)
  }
  return {
    name: `${api}: the watch for repetition, ${name}: a stream`,
    value: median(times),
    unit: 'µs CPU',
    baseline: 'reading the stream',
    ratio: median(ratios),
  }
}

/** The watch is too quick for the clock. */
const watchRepeats = 20

function watched(pieces: string[]): void {
  const watch = new RepetitionWatch(() => [])
  for (const piece of pieces)
    if (watch.add(piece) !== undefined) throw new Error('a stream of the bench repeats itself')
}

async function inTurn(
  bodies: Uint8Array[],
  read: (bytes: Uint8Array) => Promise<number>,
): Promise<void> {
  for (let n = 0; n < repeats; n += 1) for (const body of bodies) await read(body)
}

async function longRow(api: Api, deltas: number): Promise<Row> {
  const [ours] = await readers(api)
  const bytes = longStream(api, deltas)
  const times: number[] = []
  for (let lap = 0; lap < 4; lap += 1) {
    const read = async () => {
      const length = await ours(bytes)
      if (length < Math.min(deltas * 45, limits.argumentBytesMax))
        throw new Error(`${api} lost arguments: ${length} of ${deltas} pieces came`)
    }
    times.push(await cpuMicroseconds(read))
  }
  return {
    name: `${api}: one call, ${deltas} pieces, ${(deltas * 50) / 1000} KB: a piece`,
    value: median(times.slice(1)) / deltas,
    unit: 'µs CPU',
  }
}

type Read = (bytes: Uint8Array) => Promise<number>

/**
 * Ours and the SDK's. Each returns the length of the arguments, which proves that no part is
 * missing.
 */
async function readers(
  api: Api,
): Promise<[ours: Read, theirs: Read, texts: (bytes: Uint8Array) => Promise<string[]>]> {
  const answers = answering()
  const model = { provider: api, name: 'm', apiKey: 'k', maxOutputTokens: 1_000_000_000 }
  const provider = await connect(
    { name: 'a', system: '', model, tools: [], settings: defaultSettings },
    answers.fetch,
  )
  const theirs = sdkReader(api, answers)
  return [
    (bytes) => {
      answers.bytes = bytes
      return folded(provider)
    },
    (bytes) => {
      answers.bytes = bytes
      return theirs()
    },
    (bytes) => {
      answers.bytes = bytes
      return spoken(provider)
    },
  ]
}

function sdkReader(api: Api, { fetch }: Answering): () => Promise<number> {
  const options = { apiKey: 'k', fetch, maxRetries: 0, logLevel: 'off' as const }
  if (api === 'anthropic') {
    const client = new Anthropic(options)
    return async () => {
      const message = await client.messages
        .stream({ model: 'm', max_tokens: 1, messages: [] })
        .finalMessage()
      return JSON.stringify(message.content).length
    }
  }
  const client = new OpenAI(options)
  if (api === 'openai-chat')
    return async () => {
      const whole = await client.chat.completions
        .stream({ model: 'm', messages: [] })
        .finalChatCompletion()
      return JSON.stringify(whole.choices[0]?.message).length
    }
  return async () =>
    JSON.stringify(
      (await client.responses.stream({ model: 'm', input: [] }).finalResponse()).output,
    ).length
}

const place = { conversation: 'c', turn: 1, round: 1 }
const alone = { offset: 0, previous: undefined, time: 0 }

const request = { nudge: null, tools: [], textOnly: false, history: [], rebuilt: false }

/** The pieces of text and thinking. */
async function spoken(provider: Provider): Promise<string[]> {
  const texts: string[] = []
  const { signal } = new AbortController()
  for await (const item of provider.stream(request, signal, () => undefined))
    for (const { kind, text } of item.kind === 'events' ? item.events : [])
      if (kind === 'text' || kind === 'refusal' || kind === 'reasoning') texts.push(text)
  return texts
}

/** As gateway and accumulator work together: parts of as many events as a record holds. */
async function folded(provider: Provider): Promise<number> {
  const open: OpenRound = { offered: ['write'], expiresAt: 1, bytes: 0, attempts: new Map() }
  let gathered: PartEvent[] = []
  let parts = 0
  const write = () => {
    if (gathered.length === 0) return
    accumulator.react(open, {
      message: { type: 'part', ...place, attempt: 'a', i: parts, events: gathered },
      ...alone,
    })
    parts += 1
    gathered = []
  }
  for await (const item of provider.stream(
    request,
    new AbortController().signal,
    () => undefined,
  )) {
    if (item.kind !== 'events') continue
    gathered.push(...item.events)
    if (gathered.length >= partEventsMax) write()
  }
  write()
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const stamped = {
    declarations: [],
    agent: 'a',
    policy: defaultPolicy,
    callsLeft: 1,
    expiresAt: 1,
    ...{ callsAsText: false, textCalls: null, echoOf: null, rest: [] },
    failure: null,
  }
  const finished = {
    type: 'model-finished' as const,
    ...place,
    attempt: 'a',
    parts,
    finish: 'x',
    stop: 'calls' as const,
    usage,
    ...stamped,
  }
  const [output] = accumulator.react(open, { message: finished, ...alone }).records ?? []
  return output?.message.type === 'round-proposed'
    ? (output.message.response.calls[0]?.raw.length ?? 0)
    : 0
}

/** A call with this number of argument pieces, of 50 bytes each. */
function longStream(api: Api, deltas: number): Uint8Array {
  const pieces = [
    '{"text":"',
    ...Array.from({ length: deltas }, (_, n) =>
      `a word or two of text number ${n % 1000} `.padEnd(50, '.'),
    ),
    '"}',
  ]
  return Buffer.from(frames(api, pieces).join(''))
}

/** A text in this number of pieces, of 20 bytes each. */
function textStream(api: Api, deltas: number): Uint8Array {
  const pieces = Array.from({ length: deltas }, (_, n) =>
    `word ${(n * 7919) % 10_007} `.padEnd(20, 'a'),
  )
  return Buffer.from(textFrames(api, pieces).join(''))
}

function textFrames(api: Api, pieces: string[]): string[] {
  const named = (event: { type: string; [key: string]: unknown }) =>
    sse(event.type, JSON.stringify(event))
  switch (api) {
    case 'anthropic':
      return [
        named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        ...pieces.map((text) =>
          named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
        ),
        named({ type: 'content_block_stop', index: 0 }),
        named({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
        named({ type: 'message_stop' }),
      ]
    case 'openai-chat':
      return [
        ...pieces.map((content) =>
          chunk(
            JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
          ),
        ),
        chunk(JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })),
        chunk('[DONE]'),
      ]
    case 'openai-responses':
      return [
        ...pieces.map((delta) =>
          named({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta }),
        ),
        named({
          type: 'response.completed',
          response: { id: 'r', status: 'completed', output: [] },
        }),
      ]
  }
}

function frames(api: Api, pieces: string[]): string[] {
  const named = (event: { type: string }) => sse(event.type, JSON.stringify(event))
  switch (api) {
    case 'anthropic': {
      const message = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      }
      return [
        named({ type: 'message_start', ...{ message } }),
        named({
          type: 'content_block_start',
          ...{ index: 0, content_block: { type: 'tool_use', id: 't', name: 'write', input: {} } },
        }),
        ...pieces.map((partial_json) =>
          named({
            type: 'content_block_delta',
            ...{ index: 0, delta: { type: 'input_json_delta', partial_json } },
          }),
        ),
        named({ type: 'content_block_stop', ...{ index: 0 } }),
        named({
          type: 'message_delta',
          ...{ delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
        }),
        named({ type: 'message_stop' }),
      ]
    }
    case 'openai-chat': {
      const piece = (delta: object, finish_reason: string | null = null) =>
        chunk(JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason }] }))
      const call = (fields: object) => piece({ tool_calls: [{ index: 0, ...fields }] })
      return [
        call({ id: 'c', type: 'function', function: { name: 'write', arguments: '' } }),
        ...pieces.map((text) => call({ function: { arguments: text } })),
        piece({}, 'tool_calls'),
        chunk('[DONE]'),
      ]
    }
    case 'openai-responses': {
      const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'write', arguments: '' }
      const whole = { ...item, arguments: pieces.join(''), status: 'completed' }
      const at = { item_id: 'f', output_index: 0 }
      return [
        named({ type: 'response.created', ...{ response: { id: 'r', output: [] } } }),
        named({ type: 'response.output_item.added', ...{ output_index: 0, item } }),
        ...pieces.map((delta) =>
          named({ type: 'response.function_call_arguments.delta', ...at, ...{ delta } }),
        ),
        named({
          type: 'response.function_call_arguments.done',
          ...at,
          ...{ arguments: whole.arguments },
        }),
        named({ type: 'response.output_item.done', ...{ output_index: 0, item: whole } }),
        named({
          type: 'response.completed',
          ...{ response: { id: 'r', status: 'completed', output: [whole] } },
        }),
      ]
    }
  }
}

async function cpuMicroseconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
