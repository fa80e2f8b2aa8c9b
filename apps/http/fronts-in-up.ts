// The routes of the fronts in the process of `weir up`: guests, hooks, the model proxy, and the gateway
// of MCP servers. They share one reader of the log.

import { frontsOn } from '../../client/guard/log/fronts.ts'
import { openApprovals } from '../../services/approval/performer/approvals.ts'
import type { McpServer } from '../../shared/agents/agents.ts'
import type { Guests } from '../../shared/agents/guest.ts'
import { secretsOf, secretsOfEnvironment, secretsOfServers } from '../../shared/agents/secrets.ts'
import { noPins, toolPins } from '../../shared/tools/mcp/tool-pins.ts'
import type { Beside } from '../service/run-stages.ts'
import { ownKeyOf } from './edge/access/own-key.ts'
import { type FrontOptions, type FrontRoutes, frontRoutes, namedGuests } from './front-server.ts'
import { gatewayRoutes } from './fronts/mcp/gateway.ts'
import { upstreamsOf } from './fronts/mcp/upstreams.ts'
import { guardsByAgent } from './guards-by-agent.ts'

export type FrontsInUp = Pick<FrontOptions, 'upstream' | 'agent'> & {
  /** The guests of agent files. */
  guests: Guests
  /** The servers behind the gateway. Undefined: there is no gateway. */
  servers: readonly McpServer[] | undefined
  /** The data folder, with the pins of their tools and the key of hosts. Undefined: there are none. */
  folder: string | undefined
}

/** Throws `mcp.unreachable` if no server gives a list. `close` comes after that of the server. */
export async function openFrontsInUp(
  { bus, topicPrefix, partitions, agents, log }: Parameters<Beside['start']>[0],
  { upstream, agent, guests, servers, folder }: FrontsInUp,
): Promise<Pick<FrontRoutes, 'routes'> & { close(): Promise<void> }> {
  const secrets = [
    ...secretsOfEnvironment(process.env),
    ...secretsOf(agents),
    ...secretsOfServers(servers ?? [], process.env),
  ]
  const fronts = frontsOn({ bus, topicPrefix, partitions, secrets, log, guests })
  const { routes, settled } = frontRoutes({ fronts, upstream, agent, log })
  if (servers === undefined) return { routes, close }
  const pins = folder === undefined ? noPins : toolPins(folder)
  const upstreams = upstreamsOf(servers, { isPrefixed: true, log, pins })
  try {
    await upstreams.open()
    const gateway = await gatewayRoutes(
      guardsByAgent(
        async (name) => fronts.front({ agent: name, mode: 'blocking', counting: 'look' }),
        namedGuests(fronts, agent),
      ),
      {
        upstreams,
        key: folder && ownKeyOf(folder).key,
        log,
        approvals: openApprovals({
          bus,
          topicPrefix,
          partitions,
          append: (records) => bus.append(records),
        }),
      },
    )
    return {
      routes: [gateway.routes, ...routes],
      async close() {
        await gateway.close()
        await close()
        await upstreams.close()
      },
    }
  } catch (error) {
    fronts.close()
    await upstreams.close()
    throw error
  }

  async function close(): Promise<void> {
    await settled()
    fronts.close()
  }
}
