// Whether a request is paid by a person's subscription and not by an API key. Such traffic gets no
// repeats of Weir's own unless the operator wants them.

import type { IncomingHttpHeaders } from 'node:http'

/** Reads the headers of Claude Code and Codex. Keeps nothing. */
export function isOfSubscription(headers: IncomingHttpHeaders): boolean {
  const beta = `${headers['anthropic-beta'] ?? ''}`
  return (
    /^bearer\s+sk-ant-oat/i.test(headers.authorization ?? '') ||
    beta.split(',').some((one) => one.trim().startsWith('oauth-')) ||
    headers['chatgpt-account-id'] !== undefined
  )
}
