// The headers of an answer that pass under the veto.
// PASSED-HEADERS-1. A client acts on headers: Alt-Svc, Location, Link, Refresh and Set-Cookie lead its
//     next requests past Weir. So only listed ones pass, none of them an address. A challenge passes
//     only without an address of a server that grants keys.

import type { IncomingMessage } from 'node:http'

const names = new Set([
  ...['date', 'retry-after', 'retry-after-ms', 'x-should-retry', 'server-timing', 'vary'],
  ...['request-id', 'x-request-id', 'x-oai-request-id', 'x-client-request-id', 'apim-request-id'],
  ...['x-generation-id', 'cf-ray', 'x-models-etag', 'x-reasoning-included', 'x-ms-region'],
])
const prefixes = [
  ...['x-ratelimit-', 'ratelimit-', 'anthropic-', 'openai-', 'x-codex-', 'x-groq-', 'x-litellm-'],
  ...['x-amzn-', 'access-control-'],
]
/** Of a body that passes as it is. */
const ofBody = new Set([
  ...['content-type', 'content-encoding', 'content-length', 'content-language'],
  ...['cache-control', 'etag', 'expires', 'last-modified', 'content-range'],
])

/** `Basic realm="api"`: passes. `Bearer resource_metadata="https://…"`: does not. */
function isChallenge(name: string, value: string): boolean {
  return name === 'www-authenticate' && !/[/:\\]/.test(value)
}

/** Raw names and values. `hasBody`: with those of the body. */
export function passedHeaders(
  { rawHeaders: raw }: IncomingMessage,
  { hasBody }: { hasBody: boolean },
): string[] {
  const passed: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    const isListed = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
    if (isListed || isChallenge(name, value) || (hasBody && ofBody.has(name)))
      passed.push(raw[at] as string, value)
  }
  return passed
}
