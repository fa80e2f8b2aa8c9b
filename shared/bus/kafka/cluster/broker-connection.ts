// A connection to one broker that carries one request at a time. It opens at the first request, and
// again after a failure. The writer and fetching hold one for each request in flight.

import type { Milliseconds } from '../../../lib/clock.ts'
import type { DriverBroker, Node } from '../driver.ts'
import type { Link } from './link.ts'

export type BrokerConnection = {
  readonly node: Node
  readonly isBusy: boolean
  /** `waitMs`: as in Link.request. Rejects with the driver's error. */
  request<Answer>(
    send: (broker: DriverBroker) => Promise<Answer>,
    waitMs?: Milliseconds,
  ): Promise<Answer>
  /** Closes the link. The next request opens another. */
  reset(): void
  /** Closes the link for good, also one that is still opening. */
  close(): void
}

type Phase =
  | { kind: 'unopened' }
  | { kind: 'opening' }
  | { kind: 'idle'; link: Link }
  | { kind: 'busy'; link: Link }
  | { kind: 'closed' }

export function createBrokerConnection(
  node: Node,
  connect: (node: Node) => Promise<Link>,
): BrokerConnection {
  let phase: Phase = { kind: 'unopened' }
  /** The phase now: another call may have changed it during an await. */
  const now = (): Phase => phase

  async function open(): Promise<Link> {
    if (phase.kind === 'idle' && phase.link.isOpen) {
      phase = { kind: 'busy', link: phase.link } // at once: another request must not share the link
      return phase.link
    }
    if (phase.kind !== 'closed') phase = { kind: 'opening' }
    const link = await connect(node)
    if (now().kind === 'closed')
      link.close() // its request fails, as on any closed link
    else phase = { kind: 'busy', link }
    return link
  }

  function reset(): void {
    if (phase.kind === 'idle' || phase.kind === 'busy') phase.link.close()
  }

  return {
    node,

    get isBusy() {
      return phase.kind === 'opening' || phase.kind === 'busy'
    },

    async request(send, waitMs) {
      try {
        return await (await open()).request(send, waitMs)
      } finally {
        const after = now()
        if (after.kind === 'busy') phase = { kind: 'idle', link: after.link }
        else if (after.kind === 'opening') phase = { kind: 'unopened' }
      }
    },

    reset,

    close() {
      reset()
      phase = { kind: 'closed' }
    },
  }
}
