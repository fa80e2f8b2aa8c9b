// The ids of calls in Chat Completions. They name the conversation, because its clients need not.

import { WeirError } from '../../../../shared/lib/errors.ts'
import { resultName } from '../../../../shared/wire/openai-chat/request/sent-message.ts'
import type { ResultForm } from '../chat/call-results.ts'

/** `conversation`: as the principal names it. `callId`: see callIdOf. */
export type NamedCall = { conversation: string; callId: string }

export function toolCallId({ conversation, callId }: NamedCall): string {
  return `${callId}.${Buffer.from(conversation).toString('base64url')}`
}

/** For errors. `conversation`: as the principal names it. */
export function toolResultForm(conversation: string): ResultForm {
  return {
    name: resultName,
    idOf: (callId) => toolCallId({ conversation, callId }),
  }
}

/** Throws `call.unknown` for a text that is no such id. */
export function callNamed(id: string): NamedCall {
  const dot = id.indexOf('.')
  if (dot < 0) throw new WeirError('call.unknown', 'no call has this id')
  const conversation = Buffer.from(id.slice(dot + 1), 'base64url').toString('utf8')
  return { conversation, callId: id.slice(0, dot) }
}
