// The HTTP edge in the process of `weir up`.

import { closedOnFailure } from '../../../client/place/closed-on-failure.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Beside } from '../../service/run-stages.ts'
import { serviceSettings } from '../../service/service-settings.ts'
import type { UpOptions } from '../../service/up.ts'
import { type EdgeFlags, edgeOptionsOf, withOwnKey } from '../edge/edge-flags.ts'
import { agentsOfSettings, openEdgeWeir } from '../edge/edge-weir.ts'
import type { HttpApp } from '../server.ts'
import { startEdgeWithConsole } from './edge-with-console.ts'

/** Routes for the server of the edge, from the parts of the process. */
export type MoreRoutes = Pick<Beside, 'secrets'> & {
  /** `close` comes after the server's. */
  open(place: Parameters<Beside['start']>[0]): Promise<{
    routes: ((app: HttpApp) => void)[]
    close(): Promise<void>
  }>
}

/** Undefined: no `--http-port`. Throws `usage` for flags of the edge that cannot be used. */
export function edgeBeside(options: UpOptions & EdgeFlags, more?: MoreRoutes): Beside | undefined {
  if (options.httpPort === undefined) {
    const alone = edgeFlagIn(options)
    if (alone === undefined) return undefined
    throw usageError(
      `${alone} needs the HTTP edge: give its port with --http-port (0: any free port)`,
    )
  }
  const flagged = edgeOptionsOf(options)
  const settings = serviceSettings(options)
  const { options: edgeOptions, own, secrets } = withOwnKey(flagged, options, settings)
  return {
    name: 'the HTTP edge',
    secrets: [...(more?.secrets ?? []), ...secrets],
    async start(parts) {
      const { log, agents } = parts
      const loaded = agents.size > 0 ? agents : (await agentsOfSettings(settings)).agents
      const weir = await openEdgeWeir(settings, { stages: 'elsewhere', log, agents: loaded })
      return closedOnFailure(weir, async () => {
        const { routes: before, close } = (await more?.open(parts)) ?? noRoutes
        const serving = { ...edgeOptions, weir, log, before }
        const start = () => startEdgeWithConsole(settings, serving)
        const server = await closedOnFailure({ close }, start)
        log.info({ edge: server.url, keyFile: own?.file }, 'the HTTP edge is started')
        return {
          async close() {
            await server.close()
            await close()
            await weir.close()
          },
        }
      })
    },
  }
}

/** A flag that only the edge has. */
export function edgeFlagIn(options: EdgeFlags): string | undefined {
  return edgeFlags.find(([key]) => options[key] !== undefined)?.[1]
}

const noRoutes = { routes: [], close: async () => {} }

const edgeFlags = [
  ['httpHost', '--http-host'],
  ['apiKeys', '--api-keys'],
  ['keyless', '--keyless'],
  ['oidcIssuer', '--oidc-issuer'],
  ['oidcAudience', '--oidc-audience'],
  ['oidcJwks', '--oidc-jwks'],
  ['oidcTenantClaim', '--oidc-tenant-claim'],
  ['oidcRolesClaim', '--oidc-roles-claim'],
  ['oidcAllTenants', '--oidc-all-tenants'],
  ['oidcClientId', '--oidc-client-id'],
  ['oidcClientSecretFile', '--oidc-client-secret-file'],
  ['oidcConsoleUrl', '--oidc-console-url'],
  ['oidcScope', '--oidc-scope'],
  ['tlsCert', '--tls-cert'],
  ['tlsKey', '--tls-key'],
  ['tlsClientCa', '--tls-client-ca'],
  ['corsOrigin', '--cors-origin'],
  ['requestsPerMinute', '--requests-per-minute'],
  ['webhookUrl', '--webhook-url'],
  ['webhookSecretFile', '--webhook-secret-file'],
] as const
