// The kind of a request to an API that the proxy cannot read, by its path.
// A kind has no query, no id and no control character: it enters logs and lists.

import { limits } from '../../../../../shared/contract/limits.ts'
import type { UnjudgedKind } from '../../../../../shared/contract/unjudged-kinds.ts'
import { onOneLine, shortened } from '../../../../../shared/lib/text-cut.ts'
import { plainPath } from '../apis.ts'

const apis: readonly (readonly [RegExp, UnjudgedKind])[] = [
  [/^(?=.*\/publishers\/).*:(stream)?generatecontent$|:(stream)?rawpredict$/, 'Vertex'],
  [/:(stream|batch)?generatecontent$/, 'Gemini'],
  [/^(?=.*\/model\/).*\/(converse|invoke)(-stream|-with-[a-z-]+-stream)?$/, 'Bedrock'],
  [/\/api\/generate$/, 'Ollama'],
  [/\/batches(\/|$)/, 'batches'],
  [/\/threads(\/|$)/, 'threads of Assistants'],
]

/** `path`: with the query. */
export function unjudgedKindOf(method: string, path: string): string {
  const plain = plainPath(path)
  const known = apis.find(([pattern]) => pattern.test(plain))
  if (known !== undefined) return known[1]
  const named = plain.split('/').map((segment) => (isId(segment) ? '{id}' : segment))
  return shortened(`${method} ${onOneLine(named.join('/'))}`, limits.unjudgedKindBytesMax)
}

/** Also a model's name and a key: each one would make another kind. */
function isId(segment: string): boolean {
  return /^\d+$/.test(segment) || segment.length > 32 || /^(?=.{8})\D*\d/.test(segment)
}
