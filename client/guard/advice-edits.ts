// The advice in a request, at the place that its format names. A front with the parsed body makes the
// edits in a copy. The proxy makes them in the text, so all other bytes stay.

import { isObject } from '../../shared/lib/json/json-object.ts'
import type { BodyEdit, Json, RequestEdits } from '../../shared/wire/format.ts'
import { formatNamed } from '../../shared/wire/formats.ts'
import type { Advice, AnyGuestRequest } from './guest-conversation.ts'

/**
 * The edits for this advice, in any order. None at `none` and `end`, and for lists of messages.
 * `forbidsCalls`: false for a server that refuses requests that forbid calls.
 */
export function adviceEdits(
  { format, body }: AnyGuestRequest,
  advice: Pick<Advice, 'action' | 'text'>,
  options?: { forbidsCalls: boolean },
): BodyEdit[] {
  const edit = formatNamed(format as unknown)?.request?.edit
  return edit === undefined || !isObject(body) ? [] : editsFor(edit, body, advice, options)
}

/** The same for an API whose edits the caller has. */
export function editsFor(
  edit: RequestEdits,
  body: Json,
  { action, text }: Pick<Advice, 'action' | 'text'>,
  { forbidsCalls }: { forbidsCalls: boolean } = { forbidsCalls: true },
): BodyEdit[] {
  if (action === 'none' || action === 'end') return []
  return [
    ...(text === '' ? [] : edit.addAdvice(body, text)),
    ...(action === 'text_only' && forbidsCalls ? edit.withoutCalls(body) : []),
  ]
}

/** A copy of the body with the edits. Parts without an edit are shared. */
export function withEdits(body: unknown, edits: readonly BodyEdit[]): unknown {
  return edits.reduce((made, edit) => edited(made, edit, 0), body)
}

function edited(value: unknown, edit: BodyEdit, depth: number): unknown {
  const { kind, path, value: inserted } = edit
  if (depth === path.length)
    return kind === 'append' ? [...(Array.isArray(value) ? value : []), inserted] : inserted
  const step = path[depth] as string | number
  if (Array.isArray(value))
    return value.map((one, at) => (at === step ? edited(one, edit, depth + 1) : one))
  const fields = isObject(value) ? value : {}
  return { ...fields, [step]: edited(fields[step], edit, depth + 1) }
}
