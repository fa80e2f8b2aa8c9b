// The arguments of a call as a value.

import type { AnsweredCall } from '../../contract/messages.ts'
import { objectIn } from '../../lib/json/json-object.ts'

/**
 * The arguments of a call: `arguments` is the text as sent, `input` its value. Null: the text is no
 * JSON object, or only its beginning is here. Then `turn.call` has the whole text.
 */
export type CallInput = { arguments: string; input: Record<string, unknown> | null }

/** `call`: as its response shows it. Undefined: no record shows it. */
export function inputOf(call: AnsweredCall | undefined): CallInput {
  if (call === undefined) return { arguments: '', input: null }
  return { arguments: call.arguments, input: inputValue(call) }
}

/** Null: the text is no JSON object, or it is cut. */
export function inputValue({
  arguments: sent,
  argumentsBytes,
  problem,
}: Pick<AnsweredCall, 'arguments' | 'argumentsBytes' | 'problem'>): CallInput['input'] {
  if (problem !== null && problem !== 'no_arguments') return null
  if (sent === '') return {}
  if (Buffer.byteLength(sent) < argumentsBytes) return null
  return objectIn(sent) ?? null
}
