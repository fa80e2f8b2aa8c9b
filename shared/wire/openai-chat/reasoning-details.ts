// `reasoning_details` of Chat Completions: blocks of thinking, some signed or encrypted, from
// OpenRouter and others. A signature covers a whole block, so the blocks must go back whole and
// unchanged, not as the streamed pieces.
//
// A piece continues the block of its type and index. Without an index it
// continues the last block, if that has its type, no signature and an earlier chunk.
// Texts and summaries are joined in order. Encrypted data comes whole, so each
// piece is a block.
// Nothing goes back if a part is too large or unreadable: a provider refuses
// partial thinking.

import { limits } from '../../contract/limits.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { textOr } from '../../transcript/json-fields.ts'
import type { Json } from '../format.ts'

/**
 * The blocks so far; `addDetails` changes them in place. `bytes`: their size. `isSpoilt`: nothing
 * goes back.
 */
export type ReasoningDetails = { blocks: Json[]; bytes: number; isSpoilt: boolean }

export function newReasoningDetails(): ReasoningDetails {
  return { blocks: [], bytes: 0, isSpoilt: false }
}

/** Adds a chunk's details. Returns their readable text. */
export function addDetails(details: ReasoningDetails, given: unknown): string {
  if (!Array.isArray(given)) return ''
  const before = details.blocks.length
  return given.map((piece: unknown) => addPiece(details, piece, before)).join('')
}

/** The blocks to send back; undefined: none. */
export function returnedDetails({ blocks, isSpoilt }: ReasoningDetails): Json[] | undefined {
  return isSpoilt || blocks.length === 0 ? undefined : blocks
}

/** `before`: the number of blocks before this chunk. */
function addPiece(details: ReasoningDetails, piece: unknown, before: number): string {
  if (!isObject(piece)) return ''
  const json = JSON.stringify(piece)
  details.bytes += json.length
  const isTooMuch =
    details.bytes > limits.reasoningDetailsBytesMax ||
    details.blocks.length >= limits.responseItemsMax
  if (isTooMuch || jsonFault(json, limits.argumentDepthMax / 2) !== undefined) {
    details.isSpoilt = true
    details.blocks = []
  }
  const field = joinedField(piece)
  const text = field === undefined ? '' : textOr(piece[field])
  if (details.isSpoilt) return text
  const block = field === undefined ? undefined : blockOf(details.blocks, piece, before)
  if (block === undefined || field === undefined) details.blocks.push({ ...piece })
  else goOn(block, piece, field)
  return text
}

/** The field whose text comes in pieces. */
function joinedField({ type }: Json): 'text' | 'summary' | undefined {
  if (type === 'reasoning.text') return 'text'
  return type === 'reasoning.summary' ? 'summary' : undefined
}

/** The block that the piece continues. */
function blockOf(blocks: Json[], { type, index }: Json, before: number): Json | undefined {
  if (index != null) return blocks.find((block) => block.type === type && block.index === index)
  const last = blocks.length === before ? blocks.at(-1) : undefined
  return last?.type === type && last?.index == null && last?.signature == null ? last : undefined
}

function goOn(block: Json, piece: Json, field: 'text' | 'summary'): void {
  const joined = textOr(block[field]) + textOr(piece[field])
  for (const [name, value] of Object.entries(piece))
    if (value != null && (block[name] == null || name === 'signature')) block[name] = value
  if (joined !== '') block[field] = joined
}
