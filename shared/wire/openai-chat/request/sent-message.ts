// A message of a request, for a server of the format that keeps the history itself.

import { isObject } from '../../../lib/json/json-object.ts'
import { listIn } from '../../request/content.ts'

/** `content`: as sent. A text: the place of a mistake, and the rule. */
export function sentMessage(message: unknown) {
  if (!isObject(message)) return ' must be an object'
  const { role, content, tool_call_id: callId } = message
  if (role === 'user') return { role, content } as const
  if (role === 'system' || role === 'developer') return { role: 'system', content } as const
  if (role === 'assistant') {
    const calls = listIn(message.tool_calls)
    return { role, content, callIds: calls.map(({ id }) => id) } as const
  }
  if (role !== 'tool') return '.role must be user, assistant, system, developer or tool'
  if (typeof callId !== 'string') return '.tool_call_id must be a text'
  return { role, content, callId } as const
}

/** For errors. */
export const resultName = 'a message of the role tool with its tool_call_id'

/** The members by which a request chooses calls. */
export const choiceMembers = ['tool_choice', 'function_call'] as const
