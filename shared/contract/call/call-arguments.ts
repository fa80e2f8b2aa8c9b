// The arguments of a call as a value and as the text that was sent.

import { objectIn } from '../../lib/json/json-object.ts'
import type { AnsweredCall, Call } from '../messages.ts'

/**
 * The arguments of a call: `rawArguments` is the text as sent, `arguments` its value. Null: the text
 * is no JSON object, or only its beginning is here. Then `turn.call` has the whole text.
 */
export type CallArguments = { arguments: Record<string, unknown> | null; rawArguments: string }

/** A call of a record, with the value of its arguments. */
export type WithArguments<Sent> = Omit<Sent, 'arguments'> & CallArguments

/** Texts of a record. Without `argumentsBytes` the text is whole, without `problem` there is none. */
type Sent = { arguments: string } & Partial<Pick<AnsweredCall, 'argumentsBytes' | 'problem'>>

export function withArguments<Of extends Sent>(call: Of): WithArguments<Of> {
  return { ...call, ...argumentsOf(call) }
}

/** The call as its record has it. */
export function asSent<Of extends CallArguments>(
  call: Of,
): Omit<Of, keyof CallArguments> & { arguments: string } {
  const { arguments: _, rawArguments, ...rest } = call
  return { ...rest, arguments: rawArguments }
}

/** `call`: as its response shows it. Undefined: no record shows it. */
export function argumentsOf(call: Sent | undefined): CallArguments {
  return { arguments: sentValue(call), rawArguments: call?.arguments ?? '' }
}

/** Of a call in the history, which has the whole text. */
export function argumentsIn({ raw, problem }: Pick<Call, 'raw' | 'problem'>): CallArguments {
  return argumentsOf({ arguments: raw, problem })
}

function sentValue(call: Sent | undefined): CallArguments['arguments'] {
  if (call === undefined) return null
  const { arguments: text, argumentsBytes = 0, problem = null } = call
  if (problem !== null && problem !== 'no_arguments') return null
  if (text === '') return {}
  return Buffer.byteLength(text) < argumentsBytes ? null : (objectIn(text) ?? null)
}
