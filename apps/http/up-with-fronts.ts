// `weir up` with servers in its process: the fronts of guests, which are those of `weir proxy` and
// `weir mcp` on the log of the stages, and the HTTP edge. On Kafka the stages of guests may also run in
// other processes.
// Fronts ask for no key: the `Authorization` of a guest belongs to its provider. So an
// edge with API keys or an issuer has no fronts, and they keep their own port.

import type { Logger } from 'pino'
import { pinsFolderOf } from '../../client/agents/mcp-agents.ts'
import { parseGuestName } from '../../client/guard/guest-agent.ts'
import { otherPlaceThan } from '../../client/guard/guest-place.ts'
import { loadGuests } from '../../shared/agents/file/load-agents.ts'
import { loadMcpServers } from '../../shared/agents/file/mcp-servers.ts'
import type { Guests } from '../../shared/agents/guest.ts'
import { secretsOfServers } from '../../shared/agents/secrets.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { usageError } from '../../shared/lib/errors.ts'
import type { Beside } from '../service/run-stages.ts'
import { serviceSettings } from '../service/service-settings.ts'
import { type UpOptions, up } from '../service/up.ts'
import { portOf } from '../terminal/port-flag.ts'
import type { EdgeFlags } from './edge/edge-flags.ts'
import { refuseOpenAddress } from './front-address.ts'
import { upstreamAt } from './fronts/proxy/upstream.ts'
import { type FrontsInUp, openFrontsInUp } from './fronts-in-up.ts'
import { endsWhenIdle } from './hosts/ends-when-idle.ts'
import { edgeBeside, edgeFlagIn, type MoreRoutes } from './serve/edge-beside.ts'
import { startHttpServer } from './server.ts'

/** `frontPort`: undefined for no fronts. `upstream`: undefined for fronts without the proxy. */
export type UpWithFrontsOptions = UpOptions &
  EdgeFlags & {
    frontPort?: string
    frontHost?: string
    frontAgent?: string
    /** The process ends after so many hours without a request to the front port. */
    frontIdleHours?: string
    upstream?: string
    /** A file with the servers of the gateway. */
    mcp?: string
    allowRemote?: boolean
  }

/** As `up`. Throws `usage` also for flags of fronts that cannot be used. */
export async function upWithFronts(options: UpWithFrontsOptions): Promise<0 | 1> {
  if (isGatewayAlone(options)) {
    const { httpPort, ...rest } = options
    const alone = frontsBeside({ ...rest, frontPort: httpPort }, '--http-port')
    return up(rest, alone === undefined ? [] : [alone])
  }
  const fronts = frontsBeside(options)
  const edge = edgeBeside(options, fronts === undefined ? frontsOnEdge(options) : undefined)
  const parts = [fronts, edge].filter((one) => one !== undefined)
  return up(options, parts)
}

/** `portFlag`: the flag that gave the port, for errors. */
function frontsBeside(options: UpWithFrontsOptions, portFlag = '--front-port'): Beside | undefined {
  const { frontPort, frontHost = '127.0.0.1', frontAgent = 'guest', upstream } = options
  if (frontPort === undefined) {
    const alone = frontFlags.find(([key]) => options[key] !== undefined)
    if (alone === undefined || (alone[2] && isOpenEdge(options))) return undefined
    throw usageError(
      `${alone[1]} needs the server of the fronts: give its port with --front-port (0: any free port)`,
    )
  }
  refuseOpenAddress(frontHost, { flag: '--front-host', allowRemote: options.allowRemote })
  const port = portOf(frontPort, portFlag)
  const idleMs = idleMsOf(options.frontIdleHours)
  parseGuestName(frontAgent)
  const found = frontsOf(options)
  return {
    name: 'the fronts',
    standsBy: idleMs === undefined,
    secrets: secretsOfServers(found.servers ?? [], process.env),
    async start(place) {
      const { log } = place
      warnOfVariable(options, log)
      const { routes, close } = await openFrontsInUp(place, { ...found, agent: frontAgent })
      const idle = endsWhenIdle(idleMs, place.bus.clock, () => {
        log.info({ hours: options.frontIdleHours }, 'nobody asked the fronts, so this process ends')
        process.kill(process.pid, 'SIGTERM')
      })
      const server = await startHttpServer({
        host: frontHost,
        port,
        log,
        routes: [idle.watch, ...routes],
        advice: `give another address with --front-host and ${portFlag} (0: any free port)`,
      }).catch(async (error: unknown) => {
        await close()
        throw error
      })
      log.info({ fronts: server.url, upstream }, 'the fronts are started')
      return {
        async close() {
          idle.close()
          await server.close()
          await close()
        },
      }
    },
  }
}

/** Undefined: the edge has no fronts. */
function frontsOnEdge(options: UpWithFrontsOptions): MoreRoutes | undefined {
  if (!isOpenEdge(options)) return undefined
  const found = frontsOf(options)
  return {
    secrets: secretsOfServers(found.servers ?? [], process.env),
    open(place) {
      warnOfVariable(options, place.log)
      return openFrontsInUp(place, { ...found, agent: undefined })
    },
  }
}

/** Whether there is an HTTP edge without API keys and without an issuer. */
function isOpenEdge({ httpPort, apiKeys, oidcIssuer }: UpWithFrontsOptions): boolean {
  return httpPort !== undefined && apiKeys === undefined && oidcIssuer === undefined
}

/** A timer of Node holds 24 days. */
const idleHoursMax = 500

/** The last part: whether an open edge has it too. */
const frontFlags = [
  ['upstream', '--upstream', true],
  ['mcp', '--mcp', true],
  ['frontHost', '--front-host', false],
  ['frontAgent', '--front-agent', false],
  ['frontIdleHours', '--front-idle-hours', false],
  ['allowRemote', '--allow-remote', false],
] as const

/** Without agent files there is no edge, so its port has the gateway and the fronts of guests. */
function isGatewayAlone(options: UpWithFrontsOptions): boolean {
  const { mcp, httpPort, frontPort } = options
  if (mcp === undefined || httpPort === undefined || frontPort !== undefined) return false
  return edgeFlagIn(options) === undefined && serviceSettings(options).agents === ''
}

/** Throws `usage`. */
function idleMsOf(hours: string | undefined): Milliseconds | undefined {
  if (hours === undefined) return undefined
  const value = Number(hours)
  if (value > 0 && value <= idleHoursMax) return value * 3_600_000
  throw usageError(
    `--front-idle-hours is ${JSON.stringify(hours)}; must be a number above 0, at most ${idleHoursMax}`,
  )
}

/** Everything that can be refused before the process starts. */
function frontsOf(options: UpWithFrontsOptions): Omit<FrontsInUp, 'agent'> {
  const { upstream, mcp } = options
  if (upstream !== undefined) upstreamAt(upstream)
  const servers = mcp === undefined ? undefined : loadMcpServers(mcp, process.env)
  const folder = pinsFolderOf(serviceSettings(options))
  return { upstream, servers, guests: guestsOf(options), folder }
}

/** The guests among the agent files of the process. */
function guestsOf(options: UpWithFrontsOptions): Guests {
  const { agents } = serviceSettings(options)
  return agents === '' ? new Map() : loadGuests(agents)
}

function warnOfVariable(options: UpWithFrontsOptions, log: Logger): void {
  const warning = otherPlaceThan(serviceSettings(options).agents)
  if (warning !== undefined) log.warn(warning)
}
