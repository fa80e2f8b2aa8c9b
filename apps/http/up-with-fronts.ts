// `weir up` with servers in its process: the fronts of guests, which are the server of `weir proxy` on
// the log of the stages, and the HTTP edge. On Kafka the stages of guests may also run in other processes.
// UP-FRONTS-1. Fronts ask for no key: the `Authorization` of a guest belongs to its provider. So an
//     edge that requires keys has no fronts, and they keep their own port.

import { frontsOn } from '../../client/guard/guard.ts'
import { parseGuestName } from '../../client/guard/guest-agent.ts'
import { loadGuests } from '../../shared/agents/file/load-agents.ts'
import type { Guests } from '../../shared/agents/guest.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Beside } from '../service/run-stages.ts'
import { serviceSettings } from '../service/service-settings.ts'
import { type UpOptions, up } from '../service/up.ts'
import { portOf } from '../terminal/port-flag.ts'
import { edgeBeside, type MoreRoutes } from './edge/edge-beside.ts'
import type { EdgeFlags } from './edge/edge-flags.ts'
import { refuseOpenAddress } from './front-address.ts'
import { frontRoutes, startFrontServer } from './front-server.ts'
import { upstreamAt } from './fronts/proxy/upstream.ts'

/** `frontPort`: undefined for no fronts. `upstream`: undefined for fronts without the proxy. */
export type UpWithFrontsOptions = UpOptions &
  EdgeFlags & {
    frontPort?: string
    frontHost?: string
    frontAgent?: string
    upstream?: string
    allowRemote?: boolean
  }

/** As `up`. Throws `usage` also for flags of fronts that cannot be used. */
export async function upWithFronts(options: UpWithFrontsOptions): Promise<0 | 1> {
  const fronts = frontsBeside(options)
  const edge = edgeBeside(options, fronts === undefined ? frontsOnEdge(options) : undefined)
  const parts = [fronts, edge].filter((one) => one !== undefined)
  return up(options, parts)
}

function frontsBeside(options: UpWithFrontsOptions): Beside | undefined {
  const { frontPort, frontHost = '127.0.0.1', frontAgent = 'guest', upstream } = options
  if (frontPort === undefined) {
    const alone = frontFlags.find(([key]) => options[key] !== undefined)
    if (alone === undefined || (alone[0] === 'upstream' && isOpenEdge(options))) return undefined
    throw new WeirError(
      'usage',
      `${alone[1]} needs the server of the fronts: give its port with --front-port (0: any free port)`,
    )
  }
  refuseOpenAddress(frontHost, { flag: '--front-host', allowRemote: options.allowRemote })
  const port = portOf(frontPort, '--front-port')
  if (upstream !== undefined) upstreamAt(upstream) // refused before anything starts
  parseGuestName(frontAgent)
  const guests = guestsOf(options)
  return {
    name: 'the fronts',
    async start({ bus, topicPrefix, partitions, log }) {
      const fronts = frontsOn({ bus, topicPrefix, partitions, log, guests })
      const server = await startFrontServer({
        ...{ fronts, host: frontHost, port, upstream, agent: frontAgent, log },
        advice: 'give another address with --front-host and --front-port (0: any free port)',
      })
      log.info({ fronts: server.url, upstream }, 'the fronts are started')
      return {
        async close() {
          await server.close()
          fronts.close()
        },
      }
    },
  }
}

/** Keeps UP-FRONTS-1. Undefined: the edge has no fronts. */
function frontsOnEdge(options: UpWithFrontsOptions): MoreRoutes | undefined {
  if (!isOpenEdge(options)) return undefined
  const { upstream } = options
  if (upstream !== undefined) upstreamAt(upstream) // refused before anything starts
  const guests = guestsOf(options)
  return ({ bus, topicPrefix, partitions, log }) => {
    const fronts = frontsOn({ bus, topicPrefix, partitions, log, guests })
    const { routes, settled } = frontRoutes({ fronts, upstream, agent: undefined, log })
    return {
      routes,
      async close() {
        await settled()
        fronts.close()
      },
    }
  }
}

/** Whether there is an HTTP edge that requires no key. */
function isOpenEdge({ httpPort, apiKeys, oidcIssuer }: UpWithFrontsOptions): boolean {
  return httpPort !== undefined && apiKeys === undefined && oidcIssuer === undefined
}

const frontFlags = [
  ['upstream', '--upstream'],
  ['frontHost', '--front-host'],
  ['frontAgent', '--front-agent'],
  ['allowRemote', '--allow-remote'],
] as const

/** The guests among the agent files of the process. */
function guestsOf(options: UpWithFrontsOptions): Guests {
  const { agents } = serviceSettings(options)
  return agents === '' ? new Map() : loadGuests(agents)
}
