// A connection to one broker for one purpose, so a long request (a waiting fetch, a join) delays no
// other caller.
// One request at a time, in the order of the calls.
// No call hangs: a connection without a response within the request's time is closed. TCP
// alone would keep a dead one for a quarter of an hour.
// After a failure of the connection the link is closed, and its owner opens another.

import type { KafkaConfig } from 'kafkajs'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import {
  closeBroker,
  connectionTimeoutMs,
  createBroker,
  type DriverBroker,
  type Node,
  requestTimeoutMs,
} from '../driver.ts'
import { protocolTypeOf } from '../failure.ts'
import type { KafkajsLog } from '../properties/kafkajs-log.ts'

export type Link = {
  readonly node: Pick<Node, 'host' | 'port'>
  readonly isOpen: boolean
  /**
   * `waitMs`: the time that the broker may wait for records or members, in addition to the usual.
   */
  request<Answer>(
    request: (broker: DriverBroker) => Promise<Answer>,
    waitMs?: Milliseconds,
  ): Promise<Answer>
  /** Closes it at once. Pending requests fail. */
  close(): void
}

export type LinkOptions = { client: KafkaConfig; clock: Clock; log: KafkajsLog }

class LinkClosedError extends Error {
  override readonly name = 'KafkaJSConnectionError' // classified as a lost connection (failure.ts)
}

/** A rejection is a response, except one for an expired login. */
function isConnectionLost(error: unknown): boolean {
  const type = protocolTypeOf(error)
  return type === undefined || type === 'ILLEGAL_SASL_STATE'
}

/** Connects and logs in. Rejects with an error of kafkajs. */
export async function openLink(
  node: Pick<Node, 'host' | 'port'>,
  { client, clock, log }: LinkOptions,
): Promise<Link> {
  const broker = await createBroker(client, node, log)
  const answerMs = client.requestTimeout ?? requestTimeoutMs
  const connectMs =
    2 * (client.connectionTimeout ?? connectionTimeoutMs) + (client.authenticationTimeout ?? 10_000)
  let isOpen = true
  let last: Promise<unknown> = Promise.resolve()

  function close(
    reason: Error = new LinkClosedError(`the connection to ${node.host}:${node.port} was closed`),
  ): void {
    if (!isOpen) return
    isOpen = false
    closeBroker(broker, reason)
  }

  async function bounded<Answer>(answering: Promise<Answer>, ms: Milliseconds): Promise<Answer> {
    const { promise: silence, reject } = Promise.withResolvers<never>()
    const cancel = clock.after(ms, () =>
      reject(new LinkClosedError(`${node.host}:${node.port} did not answer within ${ms} ms`)),
    )
    try {
      return await Promise.race([answering, silence])
    } catch (error) {
      if (isConnectionLost(error)) close(error as Error)
      throw error
    } finally {
      cancel()
    }
  }

  try {
    await bounded(broker.connect(), connectMs)
  } catch (error) {
    close() // also after a rejection, which leaves the socket open
    throw error
  }

  return {
    node,
    get isOpen() {
      return isOpen
    },
    request(send, waitMs = 0) {
      const asked = last.then(() => {
        if (!isOpen)
          throw new LinkClosedError(`the connection to ${node.host}:${node.port} is closed`)
        return bounded(send(broker), answerMs + waitMs + 1_000)
      })
      last = asked.catch(() => {})
      return asked
    },
    close: () => close(),
  }
}
