// The APIs that the proxy judges, and how it finds them.
// APIS-1. A path is read as a server might read it: servers differ in slashes, case, escapes and
//     prefixes, so each spelling of an API's path is that API.

import type { RequestFormat, Route } from '../../../../shared/wire/format.ts'
import { type ModelFormat, modelFormats } from '../../../../shared/wire/formats.ts'

/**
 * `api`: whose answer the proxy judges. `no-calls`: no answer there has a call of a tool. `unknown`:
 * an answer may have calls.
 */
export type Judgeable =
  | { kind: 'api'; api: ModelFormat }
  | { kind: 'no-calls' }
  | { kind: 'unknown' }

/** `path`: with the query. */
export function apiAt(method: string, path: string): Judgeable {
  const api = modelFormats.find(({ request }) => routeAt(request, path) !== undefined)
  if (method === 'POST' && api !== undefined) return { kind: 'api', api }
  const plain = plainPath(path)
  const isStored = modelFormats.some(({ request }) =>
    request.routes.some(({ end }) => plain.includes(`${end}/`)),
  )
  const isLookUp = ['GET', 'HEAD'].includes(method) && !isStored
  const hasNone = withoutCalls.has(plain.split(/[/:]/).at(-1) ?? '')
  return { kind: isLookUp || hasNone || withoutAnswer.has(method) ? 'no-calls' : 'unknown' }
}

/** The route of a request to an API. Undefined: it is to another path. */
export function routeAt({ routes }: RequestFormat, path: string): Route | undefined {
  const plain = plainPath(path)
  const query = new URLSearchParams(path.split('?')[1])
  return routes.find(
    ({ end, query: [name, value] = ['', ''] }) =>
      plain.endsWith(end) && (name === '' || query.get(name) === value),
  )
}

/**
 * Whether the path is one of Weir's own in another spelling. The provider must not answer it: a host
 * would read any answer to its hook as its permission.
 */
export function isOfWeir(path: string): boolean {
  return /^\/v1\/(hooks|guest)(\/|$)/.test(plainPath(path))
}

const withoutAnswer = new Set(['OPTIONS', 'DELETE'])

/** The last segments of paths whose answers have no calls, or the parts of them after a colon. */
const withoutCalls = new Set([
  ...['count_tokens', 'input_tokens', 'embeddings', 'moderations', 'rerank', 'tokenize'],
  ...['files', 'uploads', 'transcriptions', 'translations', 'speech', 'cancel'],
  ...['counttokens', 'embedcontent', 'batchembedcontents', 'embed', 'show'],
  ...['generations', 'edits', 'variations', 'batch', 'telemetry', 'traces', 'metrics', 'logs'],
])

/** Without query, escapes, parameters of segments, case, and empty or `.` segments. */
export function plainPath(path: string): string {
  const [pathname = ''] = path.split(/[?#]/, 1)
  const segments = decoded(pathname)
    .toLowerCase()
    .split(/[/\\]/)
    .map((segment) => segment.split(';', 1).join('').trim())
    .filter((segment) => segment !== '' && segment !== '.')
  return `/${segments.join('/')}`
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
