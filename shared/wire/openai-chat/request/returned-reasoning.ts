// The reasoning of a history in Chat Completions. Reasoning goes back in the field in which it
// arrived, to the model that wrote it, between a call and the next user message: there the model
// goes on thinking.
// Hosts of thinking models (DeepSeek, Moonshot) refuse a message with calls that has no
// `reasoning_content`, and with it every later request.
//
// An empty `reasoning_content` stands for a missing one next to calls, as soon
// as an earlier message of this model had the field.
// A refusal changes the form once: every message is filled, or the refused
// data stays away. An empty `reasoning_content` stands for damaged data too.

import type { ReasoningRefusal } from '../../../contract/messages.ts'
import { isObject } from '../../../lib/json/json-object.ts'
import type { Json } from '../../format.ts'

/** The model whose reasoning may go back, and the refusal that the request answers. */
export type ReturnedReasoning = { model: string; refused: ReasoningRefusal }

/** Reasoning parts of a content list (Mistral). */
export type ThinkingPart = { type: 'thinking'; thinking: { type: 'text'; text: string }[] }

/**
 * The additions to one assistant message. `fields`: its further members. `parts`: its first content
 * parts. `extraOf`: the `extra_content` of a call, by ordinal.
 */
export type MessageReasoning = {
  fields: Json
  parts: ThinkingPart[]
  extraOf: (ordinal: number) => Json | undefined
}

/** Reads the messages of a history in order and returns the additions to each. */
export function reasoningReader({ model, refused }: ReturnedReasoning): {
  /** `hasCalled`: the model made a call since the last user message. */
  of(thinking: Json[], hasCalled: boolean): MessageReasoning
  /** The additions to a message that no model wrote, after calls. */
  ofNobody(): Json
} {
  let hadContent = false
  const isFilled = () => hadContent || refused === 'missing'
  return {
    of(thinking, hasCalled) {
      const own = thinking.filter((block) => block.model === model)
      const blocks = hasCalled || refused === 'missing' ? own : []
      const isHere = hasCalled || refused === 'missing'
      const isKept = refused !== 'unaccepted' && refused !== 'damaged'
      const fields = isKept ? fieldsOf(blocks) : {}
      const hasContent = own.some(({ reasoning_content: text }) => typeof text === 'string')
      const isEmptied = refused === 'damaged' && hasContent
      if (isHere && refused !== 'unaccepted' && (isFilled() || isEmptied))
        fields.reasoning_content ??= ''
      hadContent ||= hasContent
      return {
        fields,
        parts: isKept ? blocks.flatMap(partsOf) : [],
        extraOf: (ordinal) => extraOf(blocks, ordinal, refused),
      }
    },
    ofNobody: () => (isFilled() && refused !== 'unaccepted' ? { reasoning_content: '' } : {}),
  }
}

function fieldsOf(blocks: Json[]): Json {
  const details = blocks.find(({ reasoning_details: given }) => Array.isArray(given))
  const textIn = (field: string): Json => {
    const found = blocks.find((block) => typeof block[field] === 'string')
    return found === undefined ? {} : { [field]: (found[field] as string).toWellFormed() }
  }
  return {
    // The details include this text.
    ...(details === undefined ? textIn('reasoning') : {}),
    ...textIn('reasoning_content'),
    ...(details === undefined ? {} : { reasoning_details: details.reasoning_details }),
  }
}

function partsOf({ content_thinking: text }: Json): ThinkingPart[] {
  return typeof text === 'string'
    ? [{ type: 'thinking', thinking: [{ type: 'text', text: text.toWellFormed() }] }]
    : []
}

/** Gemini's documented value for a call without a signature. */
const unverified = { google: { thought_signature: 'skip_thought_signature_validator' } }

/** `extra_content`, such as the signature of a thought, goes back with its call. */
function extraOf(blocks: Json[], ordinal: number, refused: ReasoningRefusal): Json | undefined {
  if (refused === 'unaccepted') return undefined
  const [extra] = blocks.flatMap(({ extra_content: extras }) => {
    const found = isObject(extras) ? extras[ordinal] : undefined
    return isObject(found) ? [found] : []
  })
  if (refused === 'unsigned') return extra ?? (ordinal === 0 ? unverified : undefined)
  if (refused !== 'damaged') return extra
  return isObject(extra?.google) && 'thought_signature' in extra.google ? unverified : undefined
}
