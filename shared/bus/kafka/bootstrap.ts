// The addresses that a client is given to find the cluster by.

import type { KafkaConfig } from 'kafkajs'
import { WeirError } from '../../lib/errors.ts'
import type { Node } from './driver.ts'

/** Of `brokers`: `host:port`, an IPv6 address in brackets. */
export async function bootstrapNodes({
  brokers,
}: Pick<KafkaConfig, 'brokers'>): Promise<Pick<Node, 'host' | 'port'>[]> {
  const given = typeof brokers === 'function' ? await brokers() : brokers
  return given.map((address) => {
    const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(address.trim()) ?? []
    if (host === undefined)
      throw new WeirError(
        'settings.invalid',
        `${JSON.stringify(address)} is no address of a broker: it must be host:port`,
      )
    return { host, port: Number(port) }
  })
}
