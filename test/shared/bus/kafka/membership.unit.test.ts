// Membership where a real broker cannot be made to be slow at the right moment; the rest of it is in rebalance.int.test.ts.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { joinGroup } from '../../../../shared/bus/kafka/membership.ts'
import { madeUpCluster, turns } from './made-up-cluster.ts'

it('does not join a group that it has left while it was looking for the coordinator', async () => {
  const found = Promise.withResolvers<void>()
  const coordinator = { id: 1, host: 'h', port: 1 }
  const { cluster, links, asked } = madeUpCluster([], { coordinatorOf: () => found.promise.then(() => coordinator) })
  const membership = joinGroup({
    ...{ cluster, log: pino({ level: 'silent' }), group: 'g', topic: 't', sessionMs: 10_000, heartbeatMs: 1_000, rebalanceMs: 10_000 },
    assigned: () => {},
    lost: () => {},
    beforeJoin: async () => {},
    failed: () => {},
  })
  await turns()
  await membership.leave()
  found.resolve()
  await turns()
  expect([links.map(({ isOpen }) => isOpen), asked]).toEqual([[false], []])
})
