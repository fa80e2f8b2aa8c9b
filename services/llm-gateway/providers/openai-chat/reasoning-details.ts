// `reasoning_details` of a Chat Completions stream: blocks of thinking, some signed or encrypted,
// as OpenRouter and others send them. They have to go back exactly as they came, which means as the
// blocks that they are and not as the pieces in which those were streamed: a signature is over its
// whole block.
//
// REASONING-DETAILS-1. A piece continues the block of its type and index; without an index, the
//     last block, where that is of its type, not signed and not of the same chunk.
// REASONING-DETAILS-2. Texts and summaries are joined in order. Encrypted data comes whole, so each
//     piece of it is a block.
// REASONING-DETAILS-3. Of what is too large or cannot be read nothing goes back: a provider refuses
//     half of its thinking.

import { limits } from '../../../../shared/contract/limits.ts'
import { jsonFault } from '../../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'

type Json = Record<string, unknown>

/**
 * The blocks so far; `addDetails` changes it in place. `bytes`: what came of them; `isSpoilt`:
 * nothing of it goes back (REASONING-DETAILS-3).
 */
export type ReasoningDetails = { blocks: Json[]; bytes: number; isSpoilt: boolean }

export function newReasoningDetails(): ReasoningDetails {
  return { blocks: [], bytes: 0, isSpoilt: false }
}

/** What a chunk says of them. Gives the text in it that people may read. */
export function addDetails(details: ReasoningDetails, given: unknown): string {
  if (!Array.isArray(given)) return ''
  const before = details.blocks.length
  return given.map((piece: unknown) => addPiece(details, piece, before)).join('')
}

/** The blocks as they go back, or undefined where there are none. */
export function returnedDetails({ blocks, isSpoilt }: ReasoningDetails): Json[] | undefined {
  return isSpoilt || blocks.length === 0 ? undefined : blocks
}

/** `before`: how many blocks there were before this chunk. */
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
  const text = field === undefined ? '' : textOf(piece[field])
  if (details.isSpoilt) return text
  const block = field === undefined ? undefined : blockOf(details.blocks, piece, before)
  if (block === undefined || field === undefined) details.blocks.push({ ...piece })
  else goOn(block, piece, field)
  return text
}

/** Where the text of such a block stands, which comes in pieces. */
function joinedField({ type }: Json): 'text' | 'summary' | undefined {
  if (type === 'reasoning.text') return 'text'
  return type === 'reasoning.summary' ? 'summary' : undefined
}

/** The block that the piece continues (REASONING-DETAILS-1). */
function blockOf(blocks: Json[], { type, index }: Json, before: number): Json | undefined {
  if (index != null) return blocks.find((block) => block.type === type && block.index === index)
  const last = blocks.length === before ? blocks.at(-1) : undefined
  return last?.type === type && last?.index == null && last?.signature == null ? last : undefined
}

function goOn(block: Json, piece: Json, field: 'text' | 'summary'): void {
  const joined = textOf(block[field]) + textOf(piece[field])
  for (const [name, value] of Object.entries(piece))
    if (value != null && (block[name] == null || name === 'signature')) block[name] = value
  if (joined !== '') block[field] = joined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
