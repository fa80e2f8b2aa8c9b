// The APIs that the proxy judges, and how it finds them.
// A path is read as a server, or a chain of servers, might read it. Servers differ in
// slashes, case, escapes and prefixes, so each spelling of an API's path is that API.

import { decodedPart } from '../../../../shared/lib/text/decoded-part.ts'
import type { RequestFormat, Route } from '../../../../shared/wire/format.ts'
import { type ProxiedFormat, proxiedFormats } from '../../../../shared/wire/proxied.ts'

/**
 * `api`: whose answer the proxy judges. `no-calls`: no answer there has a call of a tool. `look-up`:
 * it asks no model, but may find an answer. `unknown`: an answer may have calls.
 */
export type Judgeable =
  | { kind: 'api'; api: ProxiedFormat }
  | { kind: 'no-calls' }
  | { kind: 'look-up' }
  | { kind: 'unknown' }

/** `path`: with the query. */
export function apiAt(method: string, path: string): Judgeable {
  const plain = plainPath(path)
  const api = proxiedFormats.find(({ request }) => routeIn(request, plain, path) !== undefined)
  if (method === 'POST' && api !== undefined) return { kind: 'api', api }
  const isOfApi = (place: string) => ends.some((end) => `${place}/`.includes(`${end}/`))
  const isClear = !/[#?%]/.test(plain) && !ends.some((end) => plain.endsWith(end))
  const hasNone = withoutCalls.some((pattern) => {
    const found = isClear ? pattern.exec(`${method} ${plain}`) : null
    return found !== null && !isOfApi(found[1] ?? '')
  })
  if (hasNone || withoutBody.has(method)) return { kind: 'no-calls' }
  const isLookUp = method === 'DELETE' || (method === 'GET' && !isOfApi(plain))
  return { kind: isLookUp ? 'look-up' : 'unknown' }
}

/** The query that the proxy needs to judge an answer at this path. Undefined: none helps. */
export function missingQuery(path: string): string | undefined {
  const plain = plainPath(path)
  const route = proxiedFormats
    .flatMap(({ request }) => request.routes)
    .find(({ end, query }) => query !== undefined && plain.endsWith(end))
  return route?.query?.join('=')
}

/** The route of a request to an API. Undefined: it is to another path. */
export function routeAt(request: RequestFormat, path: string): Route | undefined {
  return routeIn(request, plainPath(path), path)
}

/** `plain`: the plain path of `path`. */
function routeIn({ routes }: RequestFormat, plain: string, path: string): Route | undefined {
  const query = () => new URLSearchParams(path.split('?')[1])
  return routes.find(
    ({ end, inside = '', query: [name, value] = ['', ''] }) =>
      plain.endsWith(end) && plain.includes(inside) && (name === '' || query().get(name) === value),
  )
}

/**
 * Whether the path is one of Weir's own in another spelling. The provider must not answer it: a host
 * would read any answer to its hook as its permission.
 */
export function isOfWeir(path: string): boolean {
  return /^\/v1\/(hooks|guest)(\/|$)/.test(plainPath(path))
}

/** No client reads an answer to these. */
const withoutBody = new Set(['OPTIONS', 'HEAD'])

const ends = proxiedFormats.flatMap(({ request }) => request.routes.map(({ end }) => end))

/** Matches `METHOD /path`, with the part of the path before the end. */
const withoutCalls = proxiedFormats.flatMap(({ request }) => request.withoutCalls.map(patternOf))

function patternOf(rule: string): RegExp {
  const [method, end = ''] = rule.split(' ')
  return new RegExp(`^${method} (.*)${end.replaceAll('*', '[^/]+')}$`)
}

/** Without query, escapes, parameters of segments, case, and empty or `.` segments. */
export function plainPath(path: string): string {
  const [pathname = ''] = path.split(/[?#]/, 1)
  const segments = segmentsOf(pathname).filter((segment) => segment !== '' && segment !== '.')
  return `/${segments.join('/')}`
}

/** Without escapes, parameters and case. */
export function segmentsOf(pathname: string): string[] {
  return fullyDecoded(pathname.replace(/[\t\r\n]/g, '')) // a URL drops these
    .toLowerCase()
    .split(/[/\\]/)
    .map((segment) => segment.split(';', 1).join('').trim())
}

/** Decodes until nothing changes, in linear time. A wrong escape stays as it is. */
function fullyDecoded(pathname: string): string {
  if (!pathname.includes('%')) return pathname
  const characters: string[] = []
  for (const character of pathname) {
    characters.push(character)
    while (escapedAscii.test(characters.slice(-3).join('')))
      characters.push(decodedPart(characters.splice(-3).join('')))
  }
  return characters.join('').replace(/(%[89a-f][\da-f])+/gi, decodedPart)
}

const escapedAscii = /^%[0-7][\da-f]$/i
