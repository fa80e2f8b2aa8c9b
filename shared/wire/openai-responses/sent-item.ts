// An item of a request, for a server of the format that keeps the history itself.

import { isObject } from '../../lib/json/json-object.ts'

/** A text: the place of a mistake, and the rule. `former`: of an earlier response. */
export function sentItem(item: unknown) {
  if (!isObject(item)) return neither
  const { type = 'message', role, content, approval_request_id: id, call_id: callId } = item
  if (type === 'mcp_approval_response') {
    const { approve, reason } = item
    if (typeof id !== 'string') return '.approval_request_id must be a text'
    if (typeof approve !== 'boolean') return '.approve must be true or false'
    const answer = approve ? 'allow' : 'deny'
    const own = typeof reason === 'string' ? { reason } : {}
    return { kind: 'decision', decision: { id, answer, ...own } } as const
  }
  if (type === 'function_call_output') {
    if (typeof callId !== 'string') return '.call_id must be a text'
    return { kind: 'result', callId, output: item.output } as const
  }
  if (formerTypes.has(type))
    return { kind: 'former', mistake: ' is an item of an earlier response' } as const
  if (type !== 'message') return neither
  if (role === 'user') return { kind: 'user', content } as const
  if (role === 'system' || role === 'developer') return { kind: 'system', content } as const
  return { kind: 'former', mistake: '.role must be user, system or developer' } as const
}

const neither = ' must be a message, an mcp_approval_response or a function_call_output'

/** Clients that keep their history themselves send these back. */
const formerTypes: ReadonlySet<unknown> = new Set([
  ...['function_call', 'mcp_approval_request', 'mcp_call', 'mcp_list_tools'],
  ...['item_reference', 'reasoning'],
])

/** For errors. */
export const resultName = 'a function_call_output with its call_id'
