// The error of a vendor under the veto: read from the body, and printed anew. A body with the status of
// an error can hold a whole answer, which some client would read.
// A client gets the status, the type, the code and the message, and nothing else.

import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { cutToBytes } from '../../lib/text-cut.ts'
import { errorIn, onlyOf, textOfError, withRetry } from '../faults/sent-errors.ts'
import type { Json } from '../format.ts'
import type { VendorError } from './strict.ts'

/** Undefined: the body is no error in a known form. */
export function vendorError(status: number, body: string): VendorError | undefined {
  const sent = onlyOf(boundedJson(body, limits.jsonDepthMax))
  const error = isObject(sent) ? errorIn(sent, null) : undefined
  if (error === undefined) return undefined
  const { code } = error
  const text = textOfError(error)
  return {
    status,
    type: wordOf(error.type) ?? wordOf(error.status),
    code: typeof code === 'number' ? code : wordOf(code),
    message: text === undefined ? '' : cutToBytes(withRetry(error, text), messageBytesMax),
  }
}

/** Servers quote parts of a request. */
const messageBytesMax = 65_536

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 128 ? value : null
}

/** The form of Anthropic's and OpenAI's errors. SDKs of both show the message. */
export function printedError({ type, code, message }: VendorError): Json {
  return { type: 'error', error: { type: type ?? 'api_error', code, message, param: null } }
}
