// The place of advice in a request: one table for all fronts. A front with the parsed body makes the
// edits in a copy. The proxy makes them in the text, so all other bytes stay.

import { isObject } from '../../shared/lib/json/json-object.ts'
import type { Advice, GuestFormat, GuestRequest } from './guest-conversation.ts'

/** `set`: the field at the path. `append`: to the list at the path. */
export type AdviceEdit = {
  kind: 'set' | 'append'
  path: readonly (string | number)[]
  value: unknown
}

type Body = Record<string, unknown>

/** The edits for this advice, in any order. None at `none` and `end`, and for lists of messages. */
export function adviceEdits(
  { format, body }: GuestRequest,
  { rung, text }: Pick<Advice, 'rung' | 'text'>,
): AdviceEdit[] {
  const place = placesOfText[format]
  if (place === undefined || !isObject(body) || rung === 'none' || rung === 'end') return []
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0
  return [
    ...(text === '' ? [] : place.text(body, text)),
    ...(rung === 'text_only' && hasTools
      ? [{ kind: 'set' as const, path: ['tool_choice'], value: place.noTools }]
      : []),
  ]
}

/** A copy of the body with the edits. Parts without an edit are shared. */
export function withEdits(body: unknown, edits: readonly AdviceEdit[]): unknown {
  return edits.reduce((made, edit) => edited(made, edit, 0), body)
}

function edited(value: unknown, edit: AdviceEdit, depth: number): unknown {
  const { kind, path, value: inserted } = edit
  if (depth === path.length)
    return kind === 'append' ? [...(Array.isArray(value) ? value : []), inserted] : inserted
  const step = path[depth] as string | number
  if (Array.isArray(value))
    return value.map((one, at) => (at === step ? edited(one, edit, depth + 1) : one))
  const fields = isObject(value) ? value : {}
  return { ...fields, [step]: edited(fields[step], edit, depth + 1) }
}

type PlaceOfText = { text: (body: Body, text: string) => AdviceEdit[]; noTools: unknown }

const placesOfText: Partial<Record<GuestFormat, PlaceOfText>> = {
  anthropic: { text: inLastUserMessage, noTools: { type: 'none' } },
  'openai-chat': { text: inOwnMessage, noTools: 'none' },
  'openai-responses': { text: inOwnItem, noTools: 'none' },
}

/** A text block at the end of the last message of the user. */
function inLastUserMessage({ messages }: Body, text: string): AdviceEdit[] {
  if (!Array.isArray(messages)) return []
  const at = messages.findLastIndex((one) => isObject(one) && one.role === 'user')
  if (at === -1) return []
  const path = ['messages', at, 'content']
  const { content } = messages[at]
  const block = { type: 'text', text }
  return typeof content === 'string'
    ? [{ kind: 'set', path, value: [{ type: 'text', text: content }, block] }]
    : [{ kind: 'append', path, value: block }]
}

/** A message of the operator's role at the end, in the role that the request uses. */
function inOwnMessage({ messages }: Body, text: string): AdviceEdit[] {
  if (!Array.isArray(messages)) return []
  const isNew = messages.some((one) => isObject(one) && one.role === 'developer')
  const message = { role: isNew ? 'developer' : 'system', content: text }
  return [{ kind: 'append', path: ['messages'], value: message }]
}

function inOwnItem({ input }: Body, text: string): AdviceEdit[] {
  const item = {
    type: 'message',
    role: 'developer',
    content: [{ type: 'input_text', text }],
  }
  return typeof input === 'string'
    ? [
        {
          kind: 'set',
          path: ['input'],
          value: [
            {
              type: 'message',
              role: 'user',
              content: [{ type: 'input_text', text: input }],
            },
            item,
          ],
        },
      ]
    : [{ kind: 'append', path: ['input'], value: item }]
}
