// The stream of ConverseStream, as events of Messages.
// FRAMES-1. An event is made of the members that this file names. All others are dropped, so no client
//     gets them.
// FRAMES-2. Texts and thoughts have no start in Converse. Their first piece starts their block.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'
import { fault } from '../strict/strict.ts'
import { type FrameReader, frame, framesWith } from './frames.ts'
import { callOf, converseCall, converseUsage, usageOf } from './messages.ts'

export const converseFraming = framesWith(eventReader, framesOf)

/** Maps the events of one stream. Keeps FRAMES-1 and FRAMES-2. */
function eventReader(): FrameReader {
  let open: unknown
  let stopReason: unknown
  let isOver = false

  const start = (index: unknown, content_block: Json): Json => {
    open = index
    return { type: 'content_block_start', index, content_block }
  }
  function ended(usage: unknown): Json[] {
    isOver = true
    const counted = isObject(usage) ? { usage: usageOf(usage) } : {}
    const delta = { stop_reason: stopReason, stop_sequence: null }
    return [{ type: 'message_delta', delta, ...counted }, { type: 'message_stop' }]
  }

  return {
    take(type: string, payload: Json): Json[] {
      const { contentBlockIndex: index, delta, start: begun } = payload
      switch (type) {
        case 'messageStart':
          return [
            {
              type: 'message_start',
              message: { type: 'message', role: payload.role, content: [] },
            },
          ]
        case 'contentBlockStart': {
          const kind = isObject(begun) ? Object.keys(begun).join('+') : ''
          const call = kind === 'toolUse' && isObject(begun) ? begun.toolUse : undefined
          return [start(index, isObject(call) ? callOf(call) : { type: kind })]
        }
        case 'contentBlockDelta': {
          const [block, piece] = pieceOf(isObject(delta) ? delta : {})
          const first = open === index ? [] : [start(index, block)]
          const more =
            piece === undefined ? [] : [{ type: 'content_block_delta', index, delta: piece }]
          return [...first, ...more]
        }
        case 'contentBlockStop':
          open = undefined
          return [{ type: 'content_block_stop', index }]
        case 'messageStop':
          if (stopReason !== undefined) throw fault('it ends twice')
          stopReason = payload.stopReason ?? ''
          return []
        case 'metadata':
          return ended(payload.usage)
        case 'error':
          return [{ type: 'error', error: payload }]
        default:
          return []
      }
    },
    /** The counts can be missing. */
    end: () => (stopReason === undefined || isOver ? [] : ended(undefined)),
  }
}

/** The start of the block that has this piece, and the piece. Undefined: the start is all. */
function pieceOf(delta: Json): [block: Json, piece: Json | undefined] {
  const { text, toolUse, reasoningContent: thought } = delta
  const kind = Object.keys(delta).join('+')
  if (kind === 'text')
    return [
      { type: 'text', text: '' },
      { type: 'text_delta', text },
    ]
  if (kind === 'toolUse' && isObject(toolUse))
    return [{ type: kind }, { type: 'input_json_delta', partial_json: toolUse.input ?? '' }]
  if (kind !== 'reasoningContent' || !isObject(thought)) return [{ type: kind }, { type: kind }]
  const block = { type: 'thinking', thinking: '', signature: '' }
  const { text: thinking, signature, redactedContent } = thought
  if (thinking !== undefined) return [block, { type: 'thinking_delta', thinking }]
  if (signature !== undefined) return [block, { type: 'signature_delta', signature }]
  return [{ type: 'redacted_thinking', data: redactedContent }, undefined]
}

// ── Printing ──

function framesOf(event: Json): Uint8Array[] {
  const { index: contentBlockIndex } = event
  switch (event.type) {
    case 'message_start':
      return [frame('messageStart', { role: 'assistant' })]
    case 'content_block_start': {
      const block = event.content_block as Json
      if (block.type === 'redacted_thinking')
        return [
          frame('contentBlockDelta', {
            delta: thought('redactedContent', block.data),
            contentBlockIndex,
          }),
        ]
      if (block.type === 'text' || block.type === 'thinking') return []
      return [
        frame('contentBlockStart', { start: { toolUse: converseCall(block) }, contentBlockIndex }),
      ]
    }
    case 'content_block_delta': {
      const delta = deltaOf(event.delta as Json)
      return delta === undefined ? [] : [frame('contentBlockDelta', { delta, contentBlockIndex })]
    }
    case 'content_block_stop':
      return [frame('contentBlockStop', { contentBlockIndex })]
    case 'message_delta': {
      const { stop_reason: stopReason } = event.delta as Json
      const usage = converseUsage(event.usage)
      if (stopReason === null || stopReason === undefined) return []
      return [
        frame('messageStop', { stopReason }),
        frame('metadata', { usage, metrics: { latencyMs: 0 } }),
      ]
    }
    default:
      return []
  }
}

function deltaOf(delta: Json): Json | undefined {
  switch (delta.type) {
    case 'text_delta':
      return { text: delta.text }
    case 'thinking_delta':
      return thought('text', delta.thinking)
    case 'signature_delta':
      return delta.signature ? thought('signature', delta.signature) : undefined
    case 'input_json_delta':
      return { toolUse: { input: delta.partial_json } }
    default:
      return undefined
  }
}

function thought(name: string, value: unknown): Json {
  return { reasoningContent: { [name]: value } }
}
