// The items of a response: a message, and a call that Weir ran.

import type { CallPlace } from '../../../../client/weir.ts'

export type MessageItem = {
  id: string
  type: 'message'
  role: 'assistant'
  status: 'in_progress' | 'completed'
  content: object[]
}

export type CallItem = {
  id: string
  type: 'mcp_call'
  server_label: 'weir'
  name: string
  arguments: string
  status: 'in_progress' | 'completed' | 'failed'
  output: string | null
  error: string | null
}

export type OutputItem = MessageItem | CallItem

export function messageItem(id: string, status: MessageItem['status'], text: string): MessageItem {
  return { id, type: 'message', role: 'assistant', status, content: [partOf(text)] }
}

export function partOf(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

type CallState =
  | { status: 'in_progress' | 'failed' }
  | { status: 'completed'; output: string }
  | { status: 'failed'; error: string }

/** `error`: the text for the model, which a rejected or failed call has in place of an output. */
export function callItem(
  place: CallPlace & { name: string; arguments: string },
  state: CallState,
): CallItem {
  const { name, arguments: given } = place
  return {
    ...{ id: callId(place), type: 'mcp_call', server_label: 'weir' },
    ...{ name, arguments: given, output: null, error: null },
    ...state,
  }
}

export function callId({ turn, round, ordinal }: CallPlace): string {
  return `mcp_${turn}_${round}_${ordinal}`
}
