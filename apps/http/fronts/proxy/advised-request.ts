// The request with the advice of Weir in it, for this request only. The client does not keep it.
// ADVISED-REQUEST-1. The edits of the advice are spliced into the text. All other bytes stay:
//     signatures, the order of members, the form of numbers, parameters that Weir does not know.

import { adviceEdits } from '../../../../client/guard/advice-edits.ts'
import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import {
  type Splice,
  spanAt,
  spliced,
  withItem,
  withMember,
} from '../../../../shared/lib/json/spliced.ts'
import type { BodyEdit } from '../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../shared/wire/formats.ts'
import type { SentBody } from './sent-request.ts'

/** `forbidsCalls`: false for a server that refuses requests that forbid calls. */
export function advisedRequest(
  { name: format }: ModelFormat,
  { text, body }: SentBody,
  advice: Pick<Advice, 'action' | 'text'>,
  { forbidsCalls }: { forbidsCalls: boolean },
): string {
  const edits = adviceEdits({ format, body }, advice, { forbidsCalls })
  return spliced(
    text,
    edits.flatMap((edit) => spliceOf(text, edit) ?? []),
  )
}

/** Undefined: the text has no such place. */
function spliceOf(text: string, { kind, path, value }: BodyEdit): Splice | undefined {
  const json = JSON.stringify(value)
  const span = spanAt(text, path)
  if (kind === 'append')
    return span !== undefined && text[span.from] === '[' ? withItem(text, span, json) : undefined
  if (span !== undefined) return { ...span, text: json }
  const parent = spanAt(text, path.slice(0, -1))
  const name = path.at(-1)
  return parent !== undefined && typeof name === 'string'
    ? withMember(text, parent, name, json)
    : undefined
}
