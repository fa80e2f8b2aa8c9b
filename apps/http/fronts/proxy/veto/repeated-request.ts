// The client's request once more, with the denied answers of the model behind its history.
// REPEATED-REQUEST-1. The parts are inserted into the text. All other bytes stay, and so do
//     signatures in the history. The denied answers are printed, with their signatures.

import { spanAt, spliced, withItem } from '../../../../../shared/lib/json/spliced.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'
import type { SentBody } from '../sent-request.ts'

/** The request unchanged if there are none. */
export function repeatedRequest(
  { request: { history, userMessage } }: ModelFormat,
  { text, body }: SentBody,
  parts: readonly Json[],
): SentBody {
  if (parts.length === 0) return { text, body }
  const span = spanAt(text, [history])
  if (span === undefined) return { text, body }
  const given = body[history]
  const made =
    typeof given === 'string' && userMessage !== undefined
      ? spliced(text, [{ ...span, text: JSON.stringify([userMessage(given), ...parts]) }])
      : spliced(text, [withItem(text, span, parts.map((part) => JSON.stringify(part)).join(','))])
  return { text: made, body: JSON.parse(made) as SentBody['body'] }
}
