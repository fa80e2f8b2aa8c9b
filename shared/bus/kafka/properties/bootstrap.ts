// The addresses by which a client finds the cluster.

import type { KafkaConfig } from 'kafkajs'
import { WeirError } from '../../../lib/errors.ts'
import type { Node } from '../driver.ts'

/** Each address is `host:port`, with an IPv6 address in brackets. */
export async function bootstrapNodes({
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
