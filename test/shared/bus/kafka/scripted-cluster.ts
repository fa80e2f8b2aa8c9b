// A scripted cluster for tests of one part of the bus. The test changes its topics and answers the
// requests on its links.

import type { Cluster } from '../../../../shared/bus/kafka/cluster/cluster.ts'
import type { Topic } from '../../../../shared/bus/kafka/cluster/cluster-topics.ts'
import type { Link } from '../../../../shared/bus/kafka/cluster/link.ts'
import type { Node } from '../../../../shared/bus/kafka/driver.ts'
import { handClock } from '../hand-clock.ts'

export type Question = {
  node: number
  answer(answer: unknown): Promise<void>
  fail(error: unknown): Promise<void>
}

/**
 * `requests`: every request on any link, in order. `links`: every connection. `over`: changes of the
 * cluster's behaviour.
 */
export function scriptedCluster(topics: Topic[], over: Partial<Cluster> = {}) {
  const clock = handClock()
  const requests: Question[] = []
  const links: { node: number; isOpen: boolean }[] = []

  async function connect(node: Node): Promise<Link> {
    const state = { node: node.id, isOpen: true }
    links.push(state)
    return {
      node,
      get isOpen() {
        return state.isOpen
      },
      request: () =>
        new Promise((resolve, reject) => {
          if (!state.isOpen)
            return reject(Object.assign(new Error('closed'), { name: 'KafkaJSConnectionError' }))
          requests.push({
            node: node.id,
            answer: (answer) => after(() => resolve(answer as never)),
            fail: (error) => after(() => reject(error)),
          })
        }),
      close() {
        state.isOpen = false
      },
    }
  }

  const cluster: Cluster = {
    clock,
    known: (name) => topics.find((topic) => topic.name === name),
    topic: async (name) => topics.find((topic) => topic.name === name) as Topic,
    kind: async () => 'log',
    ends: async (_, partitions = [0]) =>
      partitions.map((partition) => ({ partition, begin: 0, end: 0 })),
    end: async () => 0,
    offsetSince: async () => undefined,
    coordinatorOf: () => Promise.reject(new Error('not asked')),
    refresh: async () => {},
    connect,
    retry: (_, work) => work(),
    assertNotResized() {},
    assertNotRecreated() {},
    lost: () => undefined,
    whenResized: () => () => {},
    close() {},
    ...over,
  }
  return { cluster, clock, requests, links, connect }
}

async function after(act: () => void): Promise<void> {
  act()
  await turns()
}

/** Runs all work that does not wait for a test. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
