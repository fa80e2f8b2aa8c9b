// The items of a response: reasoning, a message, a call that Weir ran, a call that the client runs, and
// a call that waits for a person.

import type { CallPlace } from '../../../../client/weir.ts'
import { callIdOf } from '../chat/turn-calls.ts'

/** An item with a text that is streamed. */
export type TextItem = {
  id: string
  status: 'in_progress' | 'completed'
  content: object[]
} & ({ type: 'message'; role: 'assistant' } | { type: 'reasoning'; summary: [] })

/** `approval_request_id`: of the request that a person allowed. */
export type CallItem = {
  id: string
  type: 'mcp_call'
  server_label: 'weir'
  name: string
  arguments: string
  approval_request_id: string | null
  status: 'in_progress' | 'completed' | 'failed'
  output: string | null
  error: string | null
}

/** `id`: of the approval. */
export type ApprovalItem = {
  id: string
  type: 'mcp_approval_request'
  server_label: 'weir'
  name: string
  arguments: string
}

/** A call of the client. `call_id`: see callIdOf. */
export type FunctionItem = {
  id: string
  type: 'function_call'
  call_id: string
  name: string
  arguments: string
  status: 'in_progress' | 'completed'
}

export type OutputItem = TextItem | CallItem | FunctionItem | ApprovalItem

/** The forms of the texts: their parts, and the names of their events. */
export const textForms = {
  message: {
    prefix: 'msg',
    event: 'output_text',
    fields: { type: 'message', role: 'assistant' },
    part: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
  },
  reasoning: {
    prefix: 'rs',
    event: 'reasoning_text',
    fields: { type: 'reasoning', summary: [] },
    part: (text: string) => ({ type: 'reasoning_text', text }),
  },
} as const

export type TextKind = keyof typeof textForms

export function textItem(
  kind: TextKind,
  id: string,
  status: TextItem['status'],
  text: string,
): TextItem {
  const { fields, part } = textForms[kind]
  return { id, ...fields, status, content: [part(text)] } as TextItem
}

type CallState =
  | { status: 'in_progress' | 'failed' }
  | { status: 'completed'; output: string }
  | { status: 'failed'; error: string }

/** `error`: the text for the model, which a denied or failed call has in place of an output. */
export function callItem(
  place: CallPlace & { name: string; arguments: string; approval?: string | undefined },
  state: CallState,
): CallItem {
  const { name, arguments: given, approval = null } = place
  return {
    id: callId(place),
    type: 'mcp_call',
    server_label: 'weir',
    name,
    arguments: given,
    approval_request_id: approval,
    output: null,
    error: null,
    ...state,
  }
}

export function callId({ turn, round, ordinal }: CallPlace): string {
  return `mcp_${turn}_${round}_${ordinal}`
}

export function functionItem(place: CallPlace & { name: string; arguments: string }): FunctionItem {
  const { turn, round, ordinal, name, arguments: given } = place
  return {
    id: `fc_${turn}_${round}_${ordinal}`,
    type: 'function_call',
    call_id: callIdOf(place),
    name,
    arguments: given,
    status: 'completed',
  }
}
