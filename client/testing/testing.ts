// The module `weir-agents/testing`: a model that answers from a script, in this process and without a
// network. Its requests and answers pass the real SDK, so a test sees the provider's view. Also a
// recorder of real answers, guards without a pipeline, and a clock that a test moves.
// A request after the last reply is refused and never repeated: no test passes by a reply
// that nobody wrote. `always` as the last reply answers every further request.

import { usageError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { thoughtItem } from '../../shared/wire/anthropic/answer.ts'
import { anthropic, type DefinedModel } from '../define/models.ts'
import { type Block, eventsOf, sentEvent, stopReasonOf } from './anthropic-stream.ts'

export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type GivenCall, type GivenRound, given, type JudgedRound } from './given-guard.ts'
export { recordedModel } from './recorded-model.ts'

/** A tool call in a reply. `input`: the arguments, or the text that the model writes for them. */
export type ScriptedCall = { name: string; input: object | string; id?: string }

/**
 * One reply of the model. Made by `says`, `thinks`, `cut`, `silent` and `fails`; the fields are for
 * this module.
 */
export type Reply =
  | { kind: 'answer'; parts: readonly Part[]; end: 'whole' | 'cut' | 'silent' }
  | { kind: 'failure'; status: number; message: string; headers: Record<string, string> }

type Part = string | ScriptedCall | { thinking: string }

/** A request that the model got, in the words of this module. */
export type ScriptedRequest = {
  /** The system text, with advice that Weir adds. */
  system: string
  /** The texts of the user and of the model, oldest first. */
  texts: string[]
  /** The results of all calls in the history, oldest first. */
  results: string[]
  /** The results of the last response's calls. Empty: the user's text is the newest entry. */
  newResults: string[]
  /** The names of the tools on offer. */
  tools: string[]
  /** Whether the model may call them. False in the last request of a turn that makes no progress. */
  mayCall: boolean
}

/** The model for `defineAgent`, and its requests. */
export type ScriptedModel = DefinedModel & { readonly requests: readonly ScriptedRequest[] }

/** A tool call for `says`. `input`: an object, or the text of the arguments as it is streamed. */
export function call(name: string, input: object | string = {}, id?: string): ScriptedCall {
  return { name, input, ...(id !== undefined && { id }) }
}

/** A thought for `says`. */
export function thinks(thinking: string): { thinking: string } {
  return { thinking }
}

/** A whole response of texts, thoughts and calls. */
export function says(...parts: Part[]): Reply {
  return { kind: 'answer', parts, end: 'whole' }
}

/** These parts, and then the connection breaks. */
export function cut(...parts: Part[]): Reply {
  return { kind: 'answer', parts, end: 'cut' }
}

/** These parts, and then no byte until Weir gives up. */
export function silent(...parts: Part[]): Reply {
  return { kind: 'answer', parts, end: 'silent' }
}

/** An HTTP error of the provider. Weir repeats the request after 408, 409, 429 and 5xx. */
export function fails(
  status: number,
  message = 'scripted failure',
  headers: Record<string, string> = {},
): Reply {
  return { kind: 'failure', status, message, headers }
}

/** A reply, or a function that makes it of the request and its number, from 1. */
export type ScriptedReply = Reply | ((request: ScriptedRequest, number: number) => Reply)

/** The answer to each request from this one on. Made by `always`. */
export type LastingReply = { kind: 'always'; reply: ScriptedReply }

/**
 * The last entry of a script that never ends: this reply answers every further request. With a
 * function, the model can stand in for a provider while you write a program.
 */
export function always(reply: ScriptedReply): LastingReply {
  return { kind: 'always', reply }
}

/**
 * A model that answers its requests in turn. Several conversations at once share the script in the
 * order of their requests. `always` is allowed as the last entry.
 */
export function scriptedModel(...replies: (ScriptedReply | LastingReply)[]): ScriptedModel {
  for (const [at, reply] of replies.entries())
    if (typeof reply !== 'function' && !isObject(reply))
      throw usageError(
        `reply ${at + 1} of scriptedModel is ${shown(reply)}; must be a reply such as says('Hello')`,
      )
  const lasting = replies.findIndex((reply) => isLasting(reply))
  if (lasting !== -1 && lasting !== replies.length - 1)
    throw usageError(
      `always(...) is reply ${lasting + 1} of ${replies.length}, and no later reply could be given: make it the last one`,
    )
  const requests: ScriptedRequest[] = []
  let calls = 0
  const send: typeof globalThis.fetch = async (_url, init) => {
    const body = JSON.parse(String(init?.body)) as RequestBody
    const request = requestOf(body)
    requests.push(request)
    const entry = replies[requests.length - 1] ?? replies.find(isLasting)
    const next = entry !== undefined && isLasting(entry) ? entry.reply : entry
    const reply = typeof next === 'function' ? next(request, requests.length) : next
    if (reply === undefined) return failure(scriptIsOver(requests.length, replies.length))
    if (reply.kind === 'failure') return failure(reply)
    const blocks = reply.parts.map((part) => blockOf(part, () => `call-${++calls}`))
    return answer(body, blocks, reply.end, init?.signal)
  }
  const model = anthropic('scripted', { baseUrl: 'http://scripted.invalid', fetch: send })
  // Not enumerable: the model is data for Weir.open, which refuses unknown options.
  return Object.defineProperty(model, 'requests', { value: requests }) as ScriptedModel
}

function isLasting(reply: ScriptedReply | LastingReply): reply is LastingReply {
  return typeof reply === 'object' && reply.kind === 'always'
}

/** Weir does not repeat a request after status 400. */
function scriptIsOver(number: number, replies: number): Extract<Reply, { kind: 'failure' }> {
  const message = `the script has ${replies} replies, and this is request ${number}: add a reply to scriptedModel(...), or end it with always(...)`
  return { kind: 'failure', status: 400, message, headers: {} }
}

type ContentBlock = { type: string; text?: string; content?: unknown }

type RequestBody = {
  system?: string | { text: string }[]
  messages: { role: string; content: string | ContentBlock[] }[]
  tools?: { name: string }[]
  tool_choice?: { type: string }
}

function requestOf({
  system = '',
  messages,
  tools = [],
  tool_choice,
}: RequestBody): ScriptedRequest {
  const blocks = messages.flatMap(blocksOf)
  const newest = messages.slice(-1).flatMap(blocksOf)
  return {
    system: typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n'),
    texts: blocks.flatMap(({ type, text }) => (type === 'text' ? [text ?? ''] : [])),
    results: resultsIn(blocks),
    newResults: resultsIn(newest),
    tools: tools.map(({ name }) => name),
    mayCall: tools.length > 0 && tool_choice?.type !== 'none',
  }
}

function blocksOf({ content }: RequestBody['messages'][number]): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function resultsIn(blocks: ContentBlock[]): string[] {
  return blocks.flatMap(({ type, content }) => (type === 'tool_result' ? [textIn(content)] : []))
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  const blocks = Array.isArray(content) ? (content as ContentBlock[]) : []
  return blocks.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n')
}

function blockOf(part: Part, newId: () => string): Block {
  if (typeof part === 'string') return { kind: 'text', text: part }
  if ('thinking' in part) return thoughtItem(part.thinking)
  const { name, input, id = newId() } = part
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return { kind: 'call', id, name, arguments: text }
}

function failure({ status, message, headers }: Extract<Reply, { kind: 'failure' }>): Response {
  const error = { type: 'error', error: { type: 'api_error', message } }
  return Response.json(error, { status, headers })
}

function answer(
  request: RequestBody,
  blocks: Block[],
  end: 'whole' | 'cut' | 'silent',
  signal: AbortSignal | null | undefined,
): Response {
  const stopReason = end === 'whole' ? stopReasonOf(blocks) : undefined
  const bytes = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of eventsOf(request, blocks, stopReason))
        controller.enqueue(bytes.encode(sentEvent(event)))
      if (end === 'whole') controller.close()
      const leave = () => controller.error(signal?.reason)
      if (end === 'silent') signal?.addEventListener('abort', leave, { once: true })
    },
    // The bytes of the beginning arrive before the connection breaks.
    pull(controller) {
      if (end === 'cut') controller.error(new TypeError('the scripted connection broke'))
    },
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
