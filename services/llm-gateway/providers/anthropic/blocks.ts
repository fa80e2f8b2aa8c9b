// The content blocks of an Anthropic message: what is said of each, as normalized part events.
// Owns: which block an event belongs to. Does not own: the message around them
// (anthropic-events.ts), which source of a call's arguments counts (accumulator).
//
// BLOCKS-1. An event never invents bytes. A start input of {}, null or "" is the protocol's
//     placeholder, not the model's, and is passed on as no input.
// BLOCKS-2. A delta goes to the block that its index names and to no other; calls are told apart by
//     our own count, because providers reuse indexes.
// BLOCKS-3. Argument bytes whose block never began, or is none of ours and over, are passed on
//     under an index of their own, never dropped: they are missing from some call, and the
//     accumulator must not take that call's arguments for complete (I1.1).
// BLOCKS-4. Blocks that the provider runs itself (server_tool_use and its kin) and blocks of
//     unknown kinds are never calls; their beginning is kept apart.

import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { sameJson } from '../../../../shared/lib/json/same-json.ts'
import type { ExactValues, Path } from '../../wire/exact-json.ts'
import { newIndex, partEvent, textEvents } from '../../wire/part-events.ts'

/** The blocks of one message while it streams; the functions here change them in place. */
export type Blocks = {
  /** By the provider's index. */
  blocks: Map<number, Block>
  /** Blocks so far: our own indexes. */
  count: number
}

/** `start`: the input that announced it, as JSON; empty: none. */
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

/** A content block, and where it stands in its event. */
export type SentBlock = { block: unknown; exact: ExactValues; path: Path }

/** `call`: how a call begins. A text: why the block cannot be. */
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
      const text = JSON.stringify(content)
      return text === '{}' || text.length > keptApartMax
        ? []
        : [partEvent('kept_apart', newIndex(stream), text)]
    }
  }
}

const unreadable = 'the input of a call cannot be read'

/** Whether a call that is open is announced once more: that is one call, not two. */
export function isSameCall(before: Block | undefined, { block }: SentBlock): before is OpenCall {
  if (before?.kind !== 'call' || before.ended || before.id === null || !isObject(block))
    return false
  return block.id === before.id && textOf(block.name) === before.name
}

/** What a second announcement says that the first did not. A text: why they cannot both be. */
export function announcedAgain(call: OpenCall, sent: SentBlock): PartEvent[] | string {
  const input = startInput(isObject(sent.block) ? sent.block.input : undefined, sent)
  if (input === undefined) return unreadable
  if (input === '' || sameJson(input, call.start)) return []
  if (call.start !== '') return 'a call was announced twice, with different inputs'
  call.start = input
  return [partEvent('call_done', call.index, input)]
}

/**
 * Characters of a block that is no call, no text and no thinking, as it stays in the log; the
 * results of a search can be large.
 */
const keptApartMax = 16_384

/**
 * `exact`: the event. What comes for a block that the provider runs is its own while it is open;
 * later it was meant for another (BLOCKS-3).
 */
export function blockDelta(
  stream: Blocks,
  at: number,
  given: unknown,
  exact: ExactValues,
): PartEvent[] | string {
  const delta = isObject(given) ? given : {}
  const block = stream.blocks.get(at)
  // Whatever its type says: in a call there is nothing else to say.
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
    default: // citations, and whatever will be added
      return []
  }
}

/** A signature comes out with its block only, so nobody else bounds it meanwhile (R7). */
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
 * What is sent for a call and cannot be understood is noted as arguments of no call, so that none
 * runs without the arguments that were meant for it.
 */
function strayPiece(stream: Blocks, { type: _, ...sent }: Record<string, unknown>): PartEvent[] {
  const isSomething = Object.values(sent).some((value) => value !== null && value !== '')
  return isSomething ? [partEvent('call_arguments', newIndex(stream), JSON.stringify(sent))] : []
}

/** Servers that send the value itself get it written down as they sent it. */
function argumentPiece(given: unknown, exact: ExactValues): string {
  return typeof given === 'string' ? given : (exact(['delta', 'partial_json']) ?? '')
}

/** Visible text whose block never began is still what the user should read. */
function implicitText(stream: Blocks, at: number): number {
  const index = newIndex(stream)
  stream.blocks.set(at, { kind: 'text', index })
  return index
}

/** Some servers say a call whole again when it ends. */
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

/**
 * The start input as JSON text; '' where it is a placeholder (BLOCKS-1), undefined where it cannot
 * be written down.
 */
function startInput(input: unknown, { exact, path }: SentBlock): string | undefined {
  if (input === undefined || input === null || input === '') return ''
  if (isObject(input) && Object.keys(input).length === 0) return ''
  return exact([...path, 'input'])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
