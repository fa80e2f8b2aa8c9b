// A request of a client under the veto, and the parts that all requests share.

import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import type { VetoedFormat } from '../../../../../shared/wire/formats.ts'
import type { HostSessions } from '../../hooks/host-sessions.ts'
import type { GuestIdentities, GuestIdentity } from '../identity/guest-identity.ts'
import type { GuestSessions } from '../identity/guest-sessions.ts'
import type { ProxiedConversation } from '../proxied-conversation.ts'
import type { SentRequest } from '../sent-request.ts'
import type { Upstream } from '../upstream.ts'
import type { ClientAnswer } from './client-answer.ts'

/** The parts that all requests of one server share. */
export type VetoShared = {
  upstream: Upstream
  conversationOf(agent: string, identity: GuestIdentity): Promise<ProxiedConversation>
  identities: GuestIdentities
  clients: GuestSessions
  sessions: HostSessions
  /** The text that a guest's user gets when Weir ends a turn. */
  fallback: string
  log: Logger
  /** Work that the client does not wait for. */
  track(work: Promise<void>): void
  silenceMs: Milliseconds
}

/** `bytes`: the unchanged request. */
export type VetoedRequest = {
  agent: string
  api: VetoedFormat
  path: string
  incoming: IncomingMessage
  sent: SentRequest
  bytes: Buffer
  signal: AbortSignal
  client: ClientAnswer
}
