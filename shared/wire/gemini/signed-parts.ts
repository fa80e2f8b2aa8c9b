// The parts of an answer with their thought signatures. A signature belongs to its part: it goes
// back in the same part, at the same place, to the model that wrote it.
//
// Texts join only if neither has a signature, as Google requires.
// The log keeps lengths of texts and ordinals of calls, not their content. If the
// recorded text has another length, it stands in the first text part.
// A refusal changes the form once: no signatures, or Google's documented value in
// the first call of a message.

import { limits } from '../../contract/limits.ts'
import type { ReasoningRefusal } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** `text`: its length. `call`: its ordinal. `thought`: the text of a signed thought. */
type SignedPart = ({ text: number } | { call: number } | { thought: string }) & {
  thoughtSignature?: string
}

/** The parts so far; `addPart` changes them in place. `isSpoilt`: too large to go back. */
export type SignedParts = {
  parts: SignedPart[]
  calls: number
  bytes: number
  isSpoilt: boolean
}

export function newSignedParts(): SignedParts {
  return { parts: [], calls: 0, bytes: 0, isSpoilt: false }
}

/** `content`: of a text or a thought; undefined: a call. */
export function addPart(
  signed: SignedParts,
  kind: 'text' | 'thought' | 'call',
  { content = '', signature }: { content?: string; signature: string | undefined },
): void {
  if (kind === 'text' && content === '' && signature === undefined) return
  const last = signed.parts.at(-1)
  signed.bytes += (signature?.length ?? 0) + (kind === 'thought' ? content.length : 0)
  if (
    signed.bytes > limits.reasoningDetailsBytesMax ||
    signed.parts.length >= limits.responseItemsMax
  ) {
    signed.isSpoilt = true
    signed.parts = []
  }
  const mark = signature === undefined ? {} : { thoughtSignature: signature }
  if (kind === 'call') signed.parts.push({ call: signed.calls++, ...mark })
  else if (kind === 'thought') {
    if (signature !== undefined) signed.parts.push({ thought: content, ...mark })
  } else if (
    signature === undefined &&
    last !== undefined &&
    'text' in last &&
    last.thoughtSignature === undefined
  )
    last.text += content.length
  else signed.parts.push({ text: content.length, ...mark })
}

/** The block for the log. Undefined: no part has a signature. */
export function signedBlock(signed: SignedParts, model: string): Json | undefined {
  const { parts, isSpoilt } = signed
  if (isSpoilt || parts.every(({ thoughtSignature }) => thoughtSignature === undefined))
    return undefined
  return { model, gemini_parts: parts }
}

/** Google's documented value for a call whose signature is not known. */
const unverified = 'skip_thought_signature_validator'

/**
 * The parts of a message for the model. `calls`: its parts with calls, in order. `blocks`: the
 * reasoning of the message in the log.
 */
export function sentParts(
  { text, calls, blocks }: { text: string; calls: readonly Json[]; blocks: readonly Json[] },
  { model, refused }: { model: string; refused: ReasoningRefusal },
): Json[] {
  const known = refused === 'unaccepted' ? [] : partsOf(blocks, model)
  const lengths = known.reduce((sum, part) => sum + ('text' in part ? part.text : 0), 0)
  const isExact = lengths === text.length
  const parts: Json[] = []
  const sent = new Set<number>()
  let at = 0
  for (const part of known) {
    const mark = part.thoughtSignature === undefined ? {} : signatureOf(part, refused)
    if ('call' in part) {
      const call = calls[part.call]
      if (call === undefined || sent.has(part.call)) continue
      sent.add(part.call)
      parts.push({ ...call, ...mark })
    } else if ('thought' in part) parts.push({ text: part.thought, thought: true, ...mark })
    else {
      const to = isExact ? at + part.text : text.length
      if (to > at || 'thoughtSignature' in mark) parts.push({ text: text.slice(at, to), ...mark })
      at = to
    }
  }
  if (at < text.length) parts.unshift({ text: text.slice(at) })
  parts.push(...calls.filter((_, ordinal) => !sent.has(ordinal)))
  return refused === 'unsigned' || refused === 'damaged' ? withMark(parts) : parts
}

function signatureOf(part: SignedPart, refused: ReasoningRefusal): Json {
  return refused === 'damaged' ? {} : { thoughtSignature: part.thoughtSignature }
}

function withMark(parts: Json[]): Json[] {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined)
  return parts.map((part, at) => (at === first ? { thoughtSignature: unverified, ...part } : part))
}

/** Another model's signatures are refused. */
function partsOf(blocks: readonly Json[], model: string): SignedPart[] {
  const block = blocks.find((one) => one.model === model && Array.isArray(one.gemini_parts))
  const list: unknown[] = Array.isArray(block?.gemini_parts) ? block.gemini_parts : []
  return list.filter(isSignedPart)
}

function isSignedPart(value: unknown): value is SignedPart {
  return (
    isObject(value) &&
    (Number.isSafeInteger(value.text) ||
      Number.isSafeInteger(value.call) ||
      typeof value.thought === 'string')
  )
}
