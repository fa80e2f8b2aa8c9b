// Recorded and hand-broken provider streams from the shared fixtures, as the bytes that a server
// would send, and a `fetch` that sends them. The folder is not part of the repository. Without it
// `fixtures` is undefined, and its tests are skipped.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The APIs with recorded streams. */
export type Api = 'anthropic' | 'openai-chat' | 'openai-responses'

export type ExpectedCall = {
  id: string | null
  name: string
  args?: unknown
  executable?: unknown
  args_raw?: string
  reason?: string
  kind?: string
  input_text?: string
}

/** One HTTP response and its expected result. */
export type StreamCase = {
  name: string
  bytes: Buffer
  calls: ExpectedCall[]
  /** The tools of the request, if the case names them. */
  tools?: { name: string; schema: unknown }[]
  text?: string
  refusal?: string
  hasReasoning?: boolean
  finish?: string | null
  error?: { message: string }
}

type Expected = {
  tool_calls: ExpectedCall[]
  text_prefix?: string
  refusal_prefix?: string
  has_reasoning?: boolean
  finish_reason?: string | null
  error?: { message: string }
}
type IndexEntry = {
  file: string
  provider: string
  expected: Expected & { messages?: Expected[]; sequences?: (Expected & { sequence: string })[] }
}
type Deviation = {
  id: string
  slug: string
  api: string
  tools: { name: string; schema: unknown }[]
  chunks: Record<string, unknown>[]
  expected: { tool_calls: ExpectedCall[] }
}

const folder = fileURLToPath(new URL('../../../shared/fixtures/', import.meta.url))

/** All responses of one API. Undefined: the fixtures are missing. */
export function streamFixtures(api: Api): StreamCase[] | undefined {
  return existsSync(folder) ? [...recordings(api), ...deviations(api)] : undefined
}

function recordings(api: Api): StreamCase[] {
  const entries = JSON.parse(
    readFileSync(join(folder, 'streams/index.json'), 'utf8'),
  ) as IndexEntry[]
  return entries
    .filter(({ provider }) => provider === api)
    .flatMap(({ file, expected }) => {
      const bytes = readFileSync(join(folder, 'streams', file))
      const responses = file.endsWith('.sse') ? [bytes] : responsesOf(api, bytes.toString())
      const all = expected.messages ?? expected.sequences ?? [expected]
      if (all.length !== responses.length)
        throw new Error(
          `${file} holds ${responses.length} responses, but ${all.length} are expected`,
        )
      return all.map((one, n) => ({
        name: all.length === 1 ? file : `${file} ${n + 1}`,
        bytes: responses[n] as Buffer,
        calls: one.tool_calls,
        ...(one.text_prefix === undefined ? {} : { text: one.text_prefix }),
        ...(one.refusal_prefix === undefined ? {} : { refusal: one.refusal_prefix }),
        ...(one.has_reasoning === undefined ? {} : { hasReasoning: one.has_reasoning }),
        ...(one.finish_reason === undefined ? {} : { finish: one.finish_reason }),
        ...(one.error === undefined ? {} : { error: one.error }),
      }))
    })
}

/**
 * The responses of a file with one payload a line, as `{sequence, event, data}` or as the payload
 * itself. A message_stop or the end of the file ends a response.
 */
function responsesOf(api: Api, text: string): Buffer[] {
  const responses: string[] = []
  let current = ''
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const payload = JSON.parse(line) as { type?: string; event?: string; data?: unknown }
    const name = payload.event ?? payload.type ?? ''
    const data = payload.event === undefined ? line.trim() : JSON.stringify(payload.data)
    current += api === 'openai-chat' ? chunk(data) : sse(name, data)
    if (name === 'message_stop') {
      responses.push(current)
      current = ''
    }
  }
  return [...responses, current]
    .filter((response) => response !== '')
    .map((response) => Buffer.from(response))
}

function deviations(api: Api): StreamCase[] {
  return readFileSync(join(folder, 'deviations.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Deviation)
    .filter((deviation) => deviation.api === api)
    .map(({ id, slug, tools, chunks, expected }) => ({
      name: `${id} ${slug}`,
      bytes: Buffer.from(chunks.map((sent) => deviationBytes(api, sent)).join('')),
      calls: expected.tool_calls,
      tools,
    }))
}

function deviationBytes(api: Api, sent: Record<string, unknown>): string {
  if ('end' in sent) return sent.end === 'done' ? 'data: [DONE]\n\n' : ''
  if ('sse_comment' in sent) return `: ${sent.sse_comment}\n\n`
  if ('raw' in sent) return chunk(`${sent.raw}`)
  return api === 'openai-chat'
    ? chunk(JSON.stringify(sent))
    : sse(String(sent.type), JSON.stringify(sent))
}

/** One server-sent event without a name. */
export function chunk(data: string): string {
  return `data: ${data}\n\n`
}

/** One server-sent event. */
export function sse(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`
}

/**
 * A `fetch` that answers every request with these bytes, in pieces of one size. `breaks`: the
 * connection breaks after them.
 */
export function answering(
  bytes: Buffer | string,
  options: { pieceBytes?: number; breaks?: boolean } = {},
): typeof globalThis.fetch {
  const all = Buffer.from(bytes)
  const pieceBytes = options.pieceBytes ?? Math.max(all.length, 1)
  return () => {
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at < all.length) controller.enqueue(new Uint8Array(all.subarray(at, at + pieceBytes)))
        else if (options.breaks)
          controller.error(Object.assign(new Error('socket closed'), { code: 'ECONNRESET' }))
        else controller.close()
        at += pieceBytes
      },
    })
    return Promise.resolve(
      new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } }),
    )
  }
}
