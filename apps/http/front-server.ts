// The server of the fronts that need no code in the guest: `/v1/guest/{agent}/…` for any language,
// `/v1/hooks/{agent}/…` for hosts with hooks, and the model proxy, if there is an upstream. Used by
// `weir proxy` and `weir up`, which can also have their routes on the server of the HTTP edge.

import type { Logger } from 'pino'
import type { FrontsOn } from '../../client/guard/log/fronts.ts'
import { defaultGuestSettings } from '../../shared/agents/guest.ts'
import { hostNamed } from '../../shared/hosts/hosts.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { markedRoutes } from './fronts/front-mark.ts'
import { hookRoutes } from './fronts/hooks/hook-routes.ts'
import { type HostSessions, hostSessions } from './fronts/hooks/host-sessions.ts'
import type { RequestSigner } from './fronts/proxy/aws/aws-signer.ts'
import { createProxy, type ModelProxy } from './fronts/proxy/proxy.ts'
import { slottedUpstream } from './fronts/proxy/slotted-upstream.ts'
import { type Upstream, upstreamAt } from './fronts/proxy/upstream.ts'
import type { VetoOptions } from './fronts/proxy/veto/veto.ts'
import { guardsByAgent } from './guards-by-agent.ts'
import { guestRoutes } from './guest-routes.ts'
import { type HttpApp, type HttpServer, startHttpServer } from './server.ts'

export type FrontOptions = {
  fronts: FrontsOn
  /** Undefined: there is no proxy. */
  upstream: string | undefined
  /** Signs requests to the upstream in place of their clients. */
  sign?: RequestSigner | undefined
  /** Undefined: the proxy does not hold calls. */
  veto?: VetoOptions | undefined
  /** The guest at the root of the proxy. Undefined: the root has no proxy, only `/proxy/{agent}`. */
  agent: string | undefined
  log: Logger
}

/** `advice`: as for `startHttpServer`. */
export type FrontServerOptions = FrontOptions & { host: string; port: number; advice?: string }

/** `settled` resolves once the rounds of all finished answers are with Weir. */
export type FrontRoutes = { routes: ((app: HttpApp) => void)[]; settled(): Promise<void> }

/** Throws `settings.invalid` for an address or an upstream that cannot be used. */
export async function startFrontServer({
  host,
  port,
  advice,
  ...options
}: FrontServerOptions): Promise<HttpServer> {
  const { routes, settled } = frontRoutes(options)
  const server = await startHttpServer({ host, port, log: options.log, routes, advice })
  return {
    ...server,
    async close() {
      await server.close()
      await settled()
    },
  }
}

/** Throws `settings.invalid` for an upstream that cannot be used. */
export function frontRoutes({
  fronts,
  upstream,
  sign,
  veto,
  agent,
  log,
}: FrontOptions): FrontRoutes {
  if (agent !== undefined) fronts.front({ agent, isGiven: true }) // an unusable name or file fails here
  const isNamed = namedGuests(fronts, agent)
  const holding = guardsByAgent(
    async (name) => fronts.front({ agent: name, givesOnce: true }),
    isNamed,
  )
  const sessions = hostSessions(systemClock)
  // A host shows no request and no usage to its hooks.
  const ofHosts = guardsByAgent(
    async (name) => fronts.front({ agent: name, counting: 'look' }),
    isNamed,
  )
  const proxy =
    upstream === undefined
      ? undefined
      : proxyTo(upstreamAt(upstream, sign), { fronts, veto, agent, sessions, isNamed, log })
  return {
    routes: [
      markedRoutes,
      guestRoutes(holding),
      hookRoutes({ guardOf: ofHosts.guardOf, sessions, clock: systemClock, log }),
      ...(proxy === undefined ? [] : [proxy.routes]),
    ],
    settled: async () => proxy?.settled(),
  }
}

/** The guest at the root, hosts with a profile, and guests with a file. */
export function namedGuests(
  fronts: Pick<FrontsOn, 'hasFile'>,
  root: string | undefined,
): (agent: string) => boolean {
  return (agent) => agent === root || hostNamed(agent) !== undefined || fronts.hasFile(agent)
}

function proxyTo(
  upstream: Upstream,
  {
    fronts,
    veto,
    agent,
    sessions,
    isNamed,
    log,
  }: Pick<FrontOptions, 'fronts' | 'veto' | 'agent' | 'log'> & {
    sessions: HostSessions
    isNamed: (agent: string) => boolean
  },
): ModelProxy {
  const opened = (mode: 'observing' | 'blocking') =>
    guardsByAgent(async (name) => fronts.front({ agent: name, mode, counting: 'own' }), isNamed)
  const watching = opened('observing')
  const held = opened('blocking')
  const { slotOf } = fronts
  return createProxy({
    upstream:
      slotOf === undefined ? upstream : slottedUpstream(upstream, { slotOf, clock: systemClock }),
    agent,
    log,
    fallback: defaultGuestSettings.fallback,
    sessions,
    isNamed,
    veto,
    async conversationOf(name, { conversation, holds, ...options }) {
      const guard = await (holds ? held : watching).guardOf(name)
      return guard.conversation(conversation, options)
    },
  })
}
