// One connection to one broker, for one purpose: a request that may take long (a fetch that waits,
// a join) holds up nobody else's.
// LINK-1. One request at a time, in the order in which they were asked for.
// LINK-2. No call hangs: when nothing was heard for longer than the request may take, the
//     connection is given up. kafkajs would keep a connection whose other end is gone for as long
//     as TCP does, a quarter of an hour.
// LINK-3. After a failure of the connection the link is closed, and whoever owns it opens another.

import type { KafkaConfig } from 'kafkajs'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import {
  closeBroker,
  connectionTimeoutMs,
  createBroker,
  type DriverBroker,
  type Node,
  requestTimeoutMs,
} from './driver.ts'
import { protocolTypeOf } from './failure.ts'
import type { KafkajsLog } from './kafkajs-log.ts'

export type Link = {
  readonly node: Pick<Node, 'host' | 'port'>
  readonly isOpen: boolean
  /**
   * `waitMs`: how long the broker may take beyond the usual, because it is to wait for something.
   */
  request<Answer>(
    request: (broker: DriverBroker) => Promise<Answer>,
    waitMs?: Milliseconds,
  ): Promise<Answer>
  /** Ends it at once; requests that are under way fail. */
  close(): void
}

export type LinkOptions = { client: KafkaConfig; clock: Clock; log: KafkajsLog }

class LinkClosedError extends Error {
  override readonly name = 'KafkaJSConnectionError' // so that it counts as one
}

/** Keeps LINK-3. A refusal is an answer, but for one that says that the login has ended. */
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
    close() // also after a refusal, which leaves the socket open
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
