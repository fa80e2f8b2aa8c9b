// The hosts with a profile: one line each.

import type { IncomingHttpHeaders } from 'node:http'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import type { HostProfile } from './host-profile.ts'
import { openCode } from './opencode.ts'

/** The first that fits counts. OpenCode may send the headers of Copilot too. */
export const hostProfiles: readonly HostProfile[] = [claudeCode, codex, openCode, copilot]

/** The host that sends a request with these headers. Undefined: none with a profile. */
export function hostOfRequest(headers: IncomingHttpHeaders): HostProfile | undefined {
  const userAgent = headers['user-agent'] ?? ''
  return hostProfiles.find(
    ({ requests }) =>
      requests.headers.some((name) => headers[name] !== undefined) ||
      requests.userAgent?.test(userAgent) === true,
  )
}
