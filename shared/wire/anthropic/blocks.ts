// Maps the content blocks of an Anthropic message to part events. Owns: the block of each event.
// Does not own: the message (events.ts), which source of a call's arguments counts (accumulator).
//
// BLOCKS-1. Events never invent bytes. A start input of {}, null or "" is the protocol's
//     placeholder and means no input, and so does the text "null".
// BLOCKS-2. A delta goes only to the block of its index. Our own count tells calls apart, because
//     providers reuse indexes.
// BLOCKS-3. Argument bytes without an open block of ours get a separate index and are never
//     dropped. Some call lacks them and must not count as complete (I1.1).
// BLOCKS-4. Provider-run blocks (such as server_tool_use) and unknown blocks are never calls. Their
//     beginning goes to the log.

import { isPlaceholder } from '../../contract/arguments/no-arguments.ts'
import { limits } from '../../contract/limits.ts'
import type { PartEvent } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { ExactValues, Path } from '../exact-json.ts'
import { keptApart, newIndex, partEvent, textEvents } from '../part-events.ts'

/** The blocks of one message in progress. The functions below change them in place. */
export type Blocks = {
  /** By the provider's index. */
  blocks: Map<number, Block>
  /** The number of blocks so far, which gives our indexes. */
  count: number
}

/** `start`: the input of its announcement as JSON; empty: none. */
type OpenCall = {
  kind: 'call'
  index: number
  id: string | null
  name: string
  start: string
  ended: boolean
}

export type Block =
  | { kind: 'text'; index: number }
  | { kind: 'thinking'; index: number; content: Record<string, unknown> }
  | OpenCall
  | { kind: 'ignored'; ended: boolean }

/** A content block and its path in the event. */
export type SentBlock = { block: unknown; exact: ExactValues; path: Path }

/** `call`: the kind of a call's first event. Returns a text if the block is invalid. */
export function beginBlock(
  stream: Blocks,
  at: number,
  sent: SentBlock,
  call: 'call_start' | 'call_whole',
): PartEvent[] | string {
  if (stream.blocks.size >= limits.responseItemsMax && !stream.blocks.has(at))
    return `the response has more than ${limits.responseItemsMax} blocks`
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
      if (input === undefined) return unreadable
      const index = newIndex(stream)
      const id = typeof content.id === 'string' ? content.id : null
      const name = textOf(content.name)
      stream.blocks.set(at, { kind: 'call', index, id, name, start: input, ended: false })
      return [{ kind: call, index, id, name, text: input }]
    }
    default: {
      stream.blocks.set(at, { kind: 'ignored', ended: false })
      return keptApart(stream, content)
    }
  }
}

const unreadable = 'the input of a call cannot be read'

/** Whether an open call is announced again: then it is one call, not two. */
export function isSameCall(before: Block | undefined, { block }: SentBlock): before is OpenCall {
  if (before?.kind !== 'call' || before.ended || before.id === null || !isObject(block))
    return false
  return block.id === before.id && textOf(block.name) === before.name
}

/** Returns the news of a second announcement, or a text if the two contradict each other. */
export function announcedAgain(call: OpenCall, sent: SentBlock): PartEvent[] | string {
  const input = startInput(isObject(sent.block) ? sent.block.input : undefined, sent)
  if (input === undefined) return unreadable
  if (input === '' || sameJson(input, call.start)) return []
  if (call.start !== '') return 'a call was announced twice, with different inputs'
  call.start = input
  return [partEvent('call_done', call.index, input)]
}

/**
 * `exact`: values of the event. Pieces for a provider-run block belong to it only while it is open
 * (BLOCKS-3).
 */
export function blockDelta(
  stream: Blocks,
  at: number,
  given: unknown,
  exact: ExactValues,
): PartEvent[] | string {
  const delta = isObject(given) ? given : {}
  const block = stream.blocks.get(at)
  // Ignores the type: a call accepts nothing but arguments.
  if (block?.kind === 'call' && delta.partial_json == null) return strayPiece(stream, delta)
  switch (block?.kind === 'call' ? 'input_json_delta' : delta.type) {
    case 'input_json_delta':
      if ((block?.kind === 'ignored' && !block.ended) || delta.partial_json == null) return []
      return textEvents(
        'call_arguments',
        block?.kind === 'call' ? block.index : newIndex(stream),
        argumentPiece(delta.partial_json, exact),
      )
    case 'text_delta':
      if (block?.kind === 'ignored' && !block.ended) return []
      return textEvents(
        'text',
        block === undefined || block.kind === 'ignored' ? implicitText(stream, at) : block.index,
        delta.text,
      )
    case 'thinking_delta':
      if (block?.kind !== 'thinking') return []
      if (typeof delta.thinking === 'string')
        block.content.thinking = textOf(block.content.thinking) + delta.thinking
      return textEvents('reasoning', block.index, delta.thinking)
    case 'signature_delta':
      return block?.kind === 'thinking' ? signed(block, textOf(delta.signature)) : []
    default: // citations and future types
      return []
  }
}

/** A signature is emitted only with its whole block, so it needs a bound here (R7). */
function signed(
  { content }: Extract<Block, { kind: 'thinking' }>,
  signature: string,
): PartEvent[] | string {
  const signatures = textOf(content.signature) + signature
  content.signature = signatures
  return signatures.length > limits.roundPartsBytesMax
    ? 'the signature of a thinking block is too large'
    : []
}

/**
 * Emits unknown content of a call as arguments of no call. Otherwise a call could run without
 * arguments that were meant for it.
 */
function strayPiece(stream: Blocks, { type: _, ...sent }: Record<string, unknown>): PartEvent[] {
  const isSomething = Object.values(sent).some((value) => value !== null && value !== '')
  return isSomething ? [partEvent('call_arguments', newIndex(stream), JSON.stringify(sent))] : []
}

/** Some servers send the value itself and not its text. */
function argumentPiece(given: unknown, exact: ExactValues): string {
  return typeof given === 'string' ? given : (exact(['delta', 'partial_json']) ?? '')
}

/** The user should see text even if its block never began. */
function implicitText(stream: Blocks, at: number): number {
  const index = newIndex(stream)
  stream.blocks.set(at, { kind: 'text', index })
  return index
}

/** Some servers repeat the whole call at its end. */
export function stoppedWith(
  stream: Blocks,
  at: number,
  block: unknown,
  exact: ExactValues,
): PartEvent[] {
  const begun = stream.blocks.get(at)
  if (begun?.kind !== 'call' || begun.ended || !isObject(block)) return []
  return textEvents(
    'call_done',
    begun.index,
    startInput(block.input, { block, exact, path: ['content_block'] }),
  )
}

export function blockStop(stream: Blocks, at: number): PartEvent[] {
  const block = stream.blocks.get(at)
  switch (block?.kind) {
    case 'call':
      if (block.ended) return []
      block.ended = true
      return [partEvent('call_end', block.index, '')]
    case 'ignored':
      block.ended = true
      return []
    case 'thinking':
      stream.blocks.set(at, { kind: 'ignored', ended: true })
      return [partEvent('reasoning_block', block.index, JSON.stringify(block.content))]
    default:
      return []
  }
}

/** The start input as JSON. Empty: a placeholder (BLOCKS-1). Undefined: not representable. */
function startInput(input: unknown, { exact, path }: SentBlock): string | undefined {
  if (input === undefined || input === null) return ''
  const text = exact([...path, 'input'])
  return text !== undefined && isPlaceholder(text) ? '' : text
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
