// The parts that all protocols of the edge share: Weir for a principal, the author of a request, and helpers that each
// protocol needs. A protocol is a name and its routes.

import type { Logger } from 'pino'
import type { Agents } from '../../../client/weir.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import type { HttpApp } from '../server.ts'
import type { EdgeWeir } from './access/own-weir.ts'
import type { Principal, Role } from './access/principal.ts'
import type { MessageIds } from './chat/message-ids.ts'

export type EdgeContext = {
  /** Weir as the principal may use it. */
  weirOf(principal: Principal): EdgeWeir
  agents: Agents
  /** The authenticated author of a request (`context.req.raw`). Throws 403 without the role. */
  principalOf(request: Request, role?: Role): Principal
  messageIds: MessageIds
  /** Aborts when the server closes. */
  closing: AbortSignal
  clock: Clock
  log: Logger
}

/**
 * `routes`: with full paths. They may throw HttpError and WeirError, which become answers.
 * `publicRoutes`: those without an author, such as the files of a page. They hold no data.
 */
export type Protocol = {
  name: string
  routes(context: EdgeContext): HttpApp
  publicRoutes?(context: EdgeContext): HttpApp
}
