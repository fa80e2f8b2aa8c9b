// The connections of one fetching: up to `requestsMax` for each broker, because a fetch request may
// wait for records.

import { type BrokerConnection, createBrokerConnection } from '../cluster/broker-connection.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Node } from '../driver.ts'

export type FetchConnections = {
  /** A connection without a request. Undefined: all of the broker's are busy. */
  idle(node: Node): BrokerConnection | undefined
  close(): void
}

export function createFetchConnections(
  connect: Cluster['connect'],
  requestsMax: number,
): FetchConnections {
  const connections = new Map<number, BrokerConnection[]>()

  return {
    idle(node) {
      const known = connections.get(node.id) ?? []
      const usable = known.filter(
        ({ isBusy, node: { host, port } }) => isBusy || (host === node.host && port === node.port),
      )
      for (const connection of known) if (!usable.includes(connection)) connection.close()
      connections.set(node.id, usable)
      const idle = usable.find(({ isBusy }) => !isBusy)
      if (idle !== undefined || usable.length >= requestsMax) return idle
      const connection = createBrokerConnection(node, connect)
      usable.push(connection)
      return connection
    },

    close() {
      for (const connection of [...connections.values()].flat()) connection.close()
    },
  }
}
