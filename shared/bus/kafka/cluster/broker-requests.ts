// Short requests to the cluster over shared links: to one broker, or to the first that responds.

import type { KafkaConfig } from 'kafkajs'
import { WeirError } from '../../../lib/errors.ts'
import type { DriverBroker, Node } from '../driver.ts'
import { recoveryOf } from '../failure.ts'
import { type LinkOptions, openLink } from './link.ts'
import { createLinkCache } from './link-cache.ts'

export type Request<Response> = (broker: DriverBroker) => Promise<Response>

export type BrokerRequests = {
  /** Tries the given nodes, then the bootstrap addresses. */
  toAny<Response>(nodes: Node[], request: Request<Response>): Promise<Response>
  toNode<Response>(node: Pick<Node, 'host' | 'port'>, request: Request<Response>): Promise<Response>
  close(): void
}

export function createBrokerRequests(
  client: KafkaConfig,
  linkOptions: LinkOptions,
  closed: AbortSignal,
): BrokerRequests {
  const links = createLinkCache((node) => openLink(node, linkOptions))

  async function toNode<Response>(
    node: Pick<Node, 'host' | 'port'>,
    request: Request<Response>,
  ): Promise<Response> {
    const link = await links.get(node)
    if (closed.aborted) link.close()
    return link.request(request)
  }

  return {
    toNode,

    async toAny(nodes, request) {
      let failure: unknown
      for (const node of [...nodes, ...(await bootstrapNodes(client))]) {
        try {
          return await toNode(node, request)
        } catch (error) {
          if (recoveryOf(error) === 'fail' || closed.aborted) throw error
          failure = error
        }
      }
      throw failure
    },

    close: links.close,
  }
}

/** Each address is `host:port`, with an IPv6 address in brackets. */
async function bootstrapNodes({
  brokers,
}: Pick<KafkaConfig, 'brokers'>): Promise<Pick<Node, 'host' | 'port'>[]> {
  const given = typeof brokers === 'function' ? await brokers() : brokers
  return given.map((address) => {
    const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(address.trim()) ?? []
    if (host === undefined)
      throw new WeirError(
        'settings.invalid',
        `invalid broker address ${JSON.stringify(address)}: it must be host:port`,
      )
    return { host, port: Number(port) }
  })
}
