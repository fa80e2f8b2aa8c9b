// The link to a group's coordinator: found at the first request, and again when it fails or the
// group moves.

import type { Milliseconds } from '../../../lib/clock.ts'
import type { DriverBroker } from '../driver.ts'
import { protocolTypeOf } from '../failure.ts'
import type { Cluster } from './cluster.ts'
import type { Link } from './link.ts'

export type Coordinator = {
  /** The open link, if there is one. */
  link(): Link | undefined
  /** `waitMs`: as in Link.request. */
  request<Answer>(
    send: (broker: DriverBroker) => Promise<Answer>,
    waitMs?: Milliseconds,
  ): Promise<Answer>
  close(): void
}

/** `left`: aborts when the member leaves. A link that opens later is closed. */
export function createCoordinator(cluster: Cluster, group: string, left: AbortSignal): Coordinator {
  let link: Link | undefined
  let connecting: Promise<Link> | undefined

  async function connected(): Promise<Link> {
    if (link?.isOpen) return link
    connecting ??= cluster
      .coordinatorOf(group)
      .then((node) => cluster.connect(node))
      .finally(() => {
        connecting = undefined
      })
    link = await connecting
    if (left.aborted) link.close() // it must not join a group that it left, nor keep the process
    return link
  }

  return {
    link: () => (link?.isOpen ? link : undefined),

    async request(send, waitMs) {
      const used = await connected()
      try {
        return await used.request(send, waitMs)
      } catch (error) {
        if (movedAway.has(protocolTypeOf(error) ?? '')) used.close()
        throw error
      }
    },

    close: () => link?.close(),
  }
}

const movedAway = new Set(['NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE'])
