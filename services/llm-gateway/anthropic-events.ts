// Anthropic's stream, one server-sent event at a time, as normalized part events.
// Owns: which block an event belongs to, what the stream said about its end, and whether it can be believed. Does not own: HTTP (anthropic.ts),
// which source of a call's arguments counts (accumulator).
//
// E1. An event never invents bytes. A start input of {}, null or "" is the protocol's placeholder, not the model's, and is passed on as no input.
// E2. A delta goes to the block that its index names and to no other; calls are told apart by our own count, because providers reuse indexes.
// E3. Argument bytes whose block never began are passed on under an index of their own, never dropped: they are missing from some call, and the
//     accumulator must not take that call's arguments for complete (I1.1).
// E4. What cannot be read spoils the attempt, and so does a message that begins anew after its blocks did.
// E5. Blocks that the provider runs itself (server_tool_use and its kin) and blocks of unknown kinds are never calls; their beginning is kept apart.

import type { PartEvent, Stop, Usage } from '../../shared/messages.ts'
import { messagesUsage } from './anthropic-usage.ts'
import { exactJson, isObject, parseJson } from './exact-json.ts'
import { meaningOf } from './finish-words.ts'
import type { Failed } from './provider.ts'
import { brokenStream, reportedError } from './provider-errors.ts'
import { providerSaid } from './provider-said.ts'
import { shortReason } from './reason.ts'

type Block =
  | { kind: 'text'; index: number }
  | { kind: 'thinking'; index: number; content: Record<string, unknown> }
  | { kind: 'call'; index: number; id: string | null; ended: boolean }
  | { kind: 'ignored' }

/** A content block, and where it stands in which event: its text is needed where parsing it would change it. */
type SentBlock = { block: unknown; event: string; path: (string | number)[] }

/** One response while it streams; `readEvent` changes it in place. */
export type MessageStream = {
  /** Must not come back in what a server says about an error. */
  secret: string
  /** By the provider's index. */
  blocks: Map<number, Block>
  /** The newest provider's index, for servers that leave it out. */
  newest: number
  /** Blocks so far: our own indexes. */
  count: number
  /** Blocks that stood in message_start and that the stream has not announced itself, by index. */
  announced: Map<number, SentBlock>
  id: string | undefined
  /** message_start came again after blocks had begun. */
  begunAnew: boolean
  usage: Usage
  /** The provider's own word for why it stopped; empty while none came. One that says that something was cut stays, whatever comes after it. */
  finish: string
  /** What message_start said of it already: it counts when message_stop says that this came to pass. */
  foretold: unknown
  /** As the server sent it. */
  rawUsage: Record<string, unknown> | undefined
  /** message_stop came. */
  over: boolean
  /** The last events are out. */
  ended: boolean
  /** Why this attempt is no answer, whatever else comes; undefined: it still may be one. */
  fault: Failed | undefined
}

export function newMessageStream(secret: string): MessageStream {
  return {
    secret,
    blocks: new Map(),
    newest: -1,
    count: 0,
    announced: new Map(),
    id: undefined,
    begunAnew: false,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    finish: '',
    foretold: undefined,
    rawUsage: undefined,
    over: false,
    ended: false,
    fault: undefined,
  }
}

/** What one server-sent event means. `name` is its `event:` line, which counts only where the data has no type of its own. */
export function readEvent(stream: MessageStream, name: string | null, data: string): PartEvent[] {
  // Some servers close every stream with the end mark of another protocol.
  if (data === '' || data.trim() === '[DONE]') return []
  const event = parseJson(data)
  if (name === 'error' && !isObject(event)) return spoil(stream, streamError({ message: data }))
  if (!isObject(event)) return spoil(stream, brokenStream('an event of the stream is no JSON object'))

  switch (event.type ?? (isObject(event.error) ? 'error' : name)) {
    case 'message_start':
      return messageStart(stream, event, data)
    case 'content_block_start':
      return blockStart(stream, indexOf(event, stream.newest + 1), { block: event.content_block, event: data, path: ['content_block'] })
    case 'content_block_delta':
      return blockDelta(stream, indexOf(event, stream.newest), event.delta, data)
    case 'content_block_stop':
      return [
        ...stoppedWith(stream, indexOf(event, stream.newest), event.content_block, data),
        ...blockStop(stream, indexOf(event, stream.newest)),
      ]
    case 'message_delta':
      addUsage(stream, event.usage)
      // Some servers put the reason beside `delta` instead of into it.
      setFinish(stream, isObject(event.delta) && event.delta.stop_reason ? event.delta.stop_reason : event.stop_reason)
      return meaningOf(stream.finish) === 'failed' ? spoil(stream, failedFinish(stream)) : []
    case 'message_stop':
      stream.over = true
      setFinish(stream, stream.foretold)
      return meaningOf(stream.finish) === 'failed' ? spoil(stream, failedFinish(stream)) : endMessage(stream)
    case 'error':
      return spoil(stream, streamError(isObject(event.error) ? event.error : { message: event.error }))
    default: // ping, and whatever will be added to the protocol
      return []
  }
}

/** What is left to say when no more bytes come; the last events of the response. */
export function endMessage(stream: MessageStream): PartEvent[] {
  if (stream.ended) return []
  stream.ended = true
  const events: PartEvent[] = []
  for (const [index, sent] of stream.announced) events.push(...beginBlock(stream, index, sent, 'call_whole'), ...blockStop(stream, index))
  stream.announced.clear()
  return [...events, ...providerSaid(newIndex(stream), { id: stream.id, usage: stream.rawUsage })]
}

/** The provider's word in our vocabulary. `over`: whether it said that the message is over. */
export function stopOf(finish: string, over: boolean): Stop {
  if (finish === '') return over ? 'other' : 'cut'
  const meaning = meaningOf(finish)
  return meaning === undefined || meaning === 'failed' ? 'other' : meaning
}

function messageStart(stream: MessageStream, event: Record<string, unknown>, data: string): PartEvent[] {
  const message = isObject(event.message) ? event.message : {}
  const id = typeof message.id === 'string' ? message.id : undefined
  // A retrying proxy sends it twice. The same one again is harmless until blocks begin anew too, another one is another response.
  if (stream.count > 0) {
    if (id !== stream.id) return spoil(stream, brokenStream('another response began in the middle of this one'))
    stream.begunAnew = true
    return []
  }
  stream.id = id
  addUsage(stream, message.usage)
  stream.foretold = message.stop_reason
  const blocks: unknown[] = Array.isArray(message.content) ? message.content : []
  for (const [index, block] of blocks.entries()) stream.announced.set(index, { block, event: data, path: ['message', 'content', index] })
  return []
}

function blockStart(stream: MessageStream, at: number, sent: SentBlock): PartEvent[] {
  stream.newest = at
  const before = stream.blocks.get(at)
  if (stream.begunAnew && before !== undefined) return spoil(stream, brokenStream('the response began anew in the middle'))
  // The same call announced twice while it is open is one call, not two.
  const isRepeat = before?.kind === 'call' && !before.ended && before.id !== null && isObject(sent.block) && sent.block.id === before.id
  if (isRepeat) return []
  stream.announced.delete(at)
  return beginBlock(stream, at, sent, 'call_start')
}

/** `call`: how a call begins. */
function beginBlock(stream: MessageStream, at: number, sent: SentBlock, call: 'call_start' | 'call_whole'): PartEvent[] {
  const content = isObject(sent.block) ? sent.block : {}
  switch (content.type) {
    case 'text': {
      const index = newIndex(stream)
      stream.blocks.set(at, { kind: 'text', index })
      return textEvents('text', index, content.text)
    }
    case 'thinking':
    case 'redacted_thinking': {
      const index = newIndex(stream)
      stream.blocks.set(at, { kind: 'thinking', index, content: { ...content } })
      return textEvents('reasoning', index, content.thinking)
    }
    case 'tool_use': {
      const input = startInput(content.input, sent)
      if (input === undefined) return spoil(stream, brokenStream('the input of a call cannot be read'))
      const index = newIndex(stream)
      const id = typeof content.id === 'string' ? content.id : null
      stream.blocks.set(at, { kind: 'call', index, id, ended: false })
      return [{ kind: call, index, id, name: typeof content.name === 'string' ? content.name : '', text: input }]
    }
    default: {
      stream.blocks.set(at, { kind: 'ignored' })
      const text = JSON.stringify(content)
      return text === '{}' || text.length > keptApartMax ? [] : [partEvent('kept_apart', newIndex(stream), text)]
    }
  }
}

/** Characters of a block that is no call, no text and no thinking, as it stays in the log; the results of a search can be large. */
const keptApartMax = 16_384

/** `data`: the event. */
function blockDelta(stream: MessageStream, at: number, given: unknown, data: string): PartEvent[] {
  const delta = isObject(given) ? given : {}
  const block = stream.blocks.get(at)
  // Whatever its type says: in a call there is nothing else to say.
  if (block?.kind === 'call' && delta.partial_json == null) return strayPiece(stream, delta)
  switch (block?.kind === 'call' ? 'input_json_delta' : delta.type) {
    case 'input_json_delta':
      if (block?.kind === 'ignored' || delta.partial_json == null) return []
      return textEvents('call_arguments', block?.kind === 'call' ? block.index : newIndex(stream), argumentPiece(delta.partial_json, data))
    case 'text_delta':
      if (block?.kind === 'ignored') return []
      return textEvents('text', block?.index ?? implicitText(stream, at), delta.text)
    case 'thinking_delta':
      if (block?.kind !== 'thinking') return []
      if (typeof delta.thinking === 'string') block.content.thinking = textOf(block.content.thinking) + delta.thinking
      return textEvents('reasoning', block.index, delta.thinking)
    case 'signature_delta':
      if (block?.kind === 'thinking' && typeof delta.signature === 'string')
        block.content.signature = textOf(block.content.signature) + delta.signature
      return []
    default: // citations, and whatever will be added
      return []
  }
}

/** What is sent for a call and cannot be understood is noted as arguments of no call, so that none runs without the arguments that were meant for it. */
function strayPiece(stream: MessageStream, { type: _, ...sent }: Record<string, unknown>): PartEvent[] {
  const isSomething = Object.values(sent).some((value) => value !== null && value !== '')
  return isSomething ? [partEvent('call_arguments', newIndex(stream), JSON.stringify(sent))] : []
}

/** Servers that send the value itself get it written down as they sent it. */
function argumentPiece(given: unknown, data: string): string {
  return typeof given === 'string' ? given : (exactJson(data, ['delta', 'partial_json']) ?? '')
}

/** Visible text whose block never began is still what the user should read. */
function implicitText(stream: MessageStream, at: number): number {
  const index = newIndex(stream)
  stream.blocks.set(at, { kind: 'text', index })
  return index
}

function newIndex(stream: MessageStream): number {
  stream.count += 1
  return stream.count - 1
}

/** Some servers say a call whole again when it ends. */
function stoppedWith(stream: MessageStream, at: number, block: unknown, data: string): PartEvent[] {
  const begun = stream.blocks.get(at)
  if (begun?.kind !== 'call' || begun.ended || !isObject(block)) return []
  return textEvents('call_done', begun.index, startInput(block.input, { block, event: data, path: ['content_block'] }))
}

function blockStop(stream: MessageStream, at: number): PartEvent[] {
  const block = stream.blocks.get(at)
  switch (block?.kind) {
    case 'call':
      if (block.ended) return []
      block.ended = true
      return [partEvent('call_end', block.index, '')]
    case 'thinking':
      stream.blocks.set(at, { kind: 'ignored' })
      return [partEvent('reasoning_block', block.index, JSON.stringify(block.content))]
    default:
      return []
  }
}

/** The start input as JSON text; '' where it is a placeholder (E1), undefined where it cannot be written down. */
function startInput(input: unknown, { event, path }: SentBlock): string | undefined {
  if (input === undefined || input === null || input === '') return ''
  if (isObject(input) && Object.keys(input).length === 0) return ''
  return exactJson(event, [...path, 'input'])
}

/** Ends the attempt and lets those who read along see why. */
function spoil(stream: MessageStream, fault: Failed): PartEvent[] {
  const reason = shortReason(fault.reason, stream.secret)
  stream.fault ??= { ...fault, reason }
  return [partEvent('error', newIndex(stream), reason)]
}

const refusals = new Set([
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
])

function streamError(error: Record<string, unknown>): Failed {
  const type = typeof error.type === 'string' ? error.type : 'error'
  return reportedError({ type, words: [type], message: error.message, refused: refusals.has(type) })
}

/** Counts are cumulative: the newest one of each counts. */
function addUsage(stream: MessageStream, usage: unknown): void {
  if (!isObject(usage)) return
  stream.rawUsage = { ...stream.rawUsage, ...usage }
  stream.usage = { ...stream.usage, ...messagesUsage(usage) }
}

function setFinish(stream: MessageStream, reason: unknown): void {
  if (typeof reason !== 'string' || reason === '') return
  const isEnd = (word: string) => word === '' || meaningOf(word) === 'end' || meaningOf(word) === 'calls'
  if (isEnd(stream.finish) || !isEnd(reason)) stream.finish = shortReason(reason)
}

function failedFinish({ finish }: MessageStream): Failed {
  return brokenStream(`the provider ended the response with '${finish}'`)
}

function indexOf(event: Record<string, unknown>, absent: number): number {
  return typeof event.index === 'number' ? event.index : absent
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function textEvents(kind: PartEvent['kind'], index: number, text: unknown): PartEvent[] {
  return typeof text === 'string' && text !== '' ? [partEvent(kind, index, text)] : []
}

function partEvent(kind: PartEvent['kind'], index: number, text: string): PartEvent {
  return { kind, index, id: null, name: null, text }
}
