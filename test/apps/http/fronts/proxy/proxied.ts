// A proxy before a scripted model server, with a scripted guard.

import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import {
  type HostSessions,
  hostSessions,
} from '../../../../../apps/http/fronts/hooks/host-sessions.ts'
import type { RequestSigner } from '../../../../../apps/http/fronts/proxy/aws/aws-signer.ts'
import { createProxy, type ModelProxy } from '../../../../../apps/http/fronts/proxy/proxy.ts'
import { upstreamAt } from '../../../../../apps/http/fronts/proxy/upstream.ts'
import type { VetoOptions } from '../../../../../apps/http/fronts/proxy/veto/veto.ts'
import { guardsByAgent } from '../../../../../apps/http/guards-by-agent.ts'
import { startHttpServer } from '../../../../../apps/http/server.ts'
import type { GuestConversation } from '../../../../../client/guard/guest-conversation.ts'
import type { ThreadOptions } from '../../../../../client/guard/guest-thread.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'
import { type Received, scriptedUpstream } from './scripted-upstream.ts'

export type Proxied = ModelProxy & {
  url: string
  sessions: HostSessions
  received: Received[]
  /** The names of the opened guests. */
  agents: string[]
  /** The log, as text. */
  logged(): string
  closeUpstream(): Promise<void>
  close(): Promise<void>
}

/** A guard, or a front on the real stages. */
export type ScriptedFront = {
  conversation(id: string, options: ThreadOptions): GuestConversation
}

/** `path`: the path of the operator's URL. */
export async function proxied(
  guard: ScriptedFront,
  respond: (request: Received, response: ServerResponse, n: number) => unknown,
  path = '',
  veto?: VetoOptions,
  sign?: RequestSigner,
): Promise<Proxied> {
  const lines: string[] = []
  const agents: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const upstream = await scriptedUpstream(respond)
  const guards = guardsByAgent(async (agent) => {
    agents.push(agent)
    return guard
  })
  const sessions = hostSessions(systemClock)
  const proxy = createProxy({
    upstream: upstreamAt(upstream.url + path, sign),
    conversationOf: async (agent, { conversation, holds: _, ...options }) =>
      (await guards.guardOf(agent)).conversation(conversation, options),
    veto,
    sessions,
    agent: 'main',
    fallback: 'I could not do this.',
    log,
  })
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: [proxy.routes],
  })
  return {
    ...proxy,
    url: server.url,
    sessions,
    received: upstream.received,
    agents,
    logged: () => lines.join(''),
    closeUpstream: upstream.close,
    async close() {
      await server.close()
      await upstream.close()
    },
  }
}
