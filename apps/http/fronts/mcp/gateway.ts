// The gateway of one process: the servers after it, and one memory for each conversation.
// Owns: which request belongs to which conversation. Does not own: the transports (serve-mcp.ts).

import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { GuardSession } from '../../../../client/guard/guest-conversation.ts'
import type { Approvals } from '../../../../services/approval/performer/approvals.ts'
import { personHere } from '../../../../services/approval/performer/person.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { hasKey } from '../../edge/access/own-key.ts'
import type { GuardsByAgent } from '../../guards-by-agent.ts'
import { HttpError } from '../../http-error.ts'
import { bytesOf } from '../../request-body.ts'
import type { HttpApp } from '../../server.ts'
import { gatewayRounds } from './gateway-rounds.ts'
import { gatewayServers } from './gateway-server.ts'
import { type HeldCalls, heldCalls } from './held-call.ts'
import { messagesWithTexts } from './host-message.ts'
import type { Upstreams } from './upstreams.ts'

export type GatewayOptions = {
  upstreams: Upstreams
  approvals: Pick<Approvals, 'decide'>
  log: Logger
}

/** `key`: the user of the gateway sends it as `Authorization: Bearer KEY`. Undefined: nobody has a key. */
export type GatewayRoutesOptions = GatewayOptions & { key: string | undefined }

/** The calls of one conversation. `close` ends its turn. */
export function gatewayConversation(
  guard: Pick<GuardSession, 'conversation'>,
  id: string,
  { upstreams, approvals, log }: GatewayOptions,
): { calls: HeldCalls; close(): Promise<void> } {
  const rounds = gatewayRounds(guard, id, systemClock)
  const by = `${personHere()} (MCP host)`
  return {
    calls: heldCalls({ rounds, upstreams, approvals, by, clock: systemClock, log }),
    close: rounds.close,
  }
}

/** `/mcp/{agent}/{conversation}`. Loads the SDK. */
export async function gatewayRoutes(
  guards: GuardsByAgent,
  options: GatewayRoutesOptions,
): Promise<{ routes(app: HttpApp): void; close(): Promise<void> }> {
  const { createMcpHandler } = await import('@modelcontextprotocol/server')
  const { upstreams, log, key } = options
  const conversations = newest<HeldCalls>(limits.frontConversationsMax)
  const factory: McpServerFactory = await gatewayServers({
    upstreams,
    callsOf(request) {
      const calls = conversations.get(pathOf(request?.url ?? ''))
      if (calls === undefined) throw new Error('the request has no conversation')
      return calls
    },
    isOfUser: (request) =>
      key !== undefined && hasKey(request?.headers.get('authorization') ?? undefined, key),
  })
  const handler = createMcpHandler(factory, {
    onerror: (error) => log.debug({ err: error }, 'of an MCP host'),
  })
  upstreams.onChanged(() => handler.notify.toolsChanged())
  return {
    routes(app) {
      for (const path of ['/mcp', '/mcp/', '/mcp/:agent', '/mcp/:agent/'])
        app.all(path, ({ req }) => {
          const event = `unknown path: there is no ${req.method} ${req.path.slice(0, 100)}`
          throw new HttpError(404, 'http.path', `${event}; ${pathForm}`)
        })
      app.all('/mcp/:agent/:conversation', async (context) => {
        const guard = await guards.guardOf(context.req.param('agent'))
        conversations.at(
          pathOf(context.req.url),
          () => gatewayConversation(guard, context.req.param('conversation'), options).calls,
        )
        if (context.req.method !== 'POST') return handler.fetch(context.req.raw)
        const bytes = await bytesOf(context.env.incoming, limits.mcpMessageBytesMax)
        const parsedBody = messagesWithTexts(bytes.toString())
        return parsedBody === undefined
          ? Response.json(noMessage, { status: 400 })
          : handler.fetch(context.req.raw, { parsedBody })
      })
    },
    close: handler.close,
  }
}

const pathForm = 'the path of this gateway is /mcp/AGENT/CONVERSATION'

const noMessage = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }

/** A conversation is its path. */
function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? ''
}
