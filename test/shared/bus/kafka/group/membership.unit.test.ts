// Membership in cases that need a slow broker at an exact moment. rebalance.int.test.ts has the
// other cases.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { protocolError } from '../../../../../shared/bus/kafka/driver.ts'
import { joinGroup } from '../../../../../shared/bus/kafka/group/membership.ts'
import { scriptedCluster, turns } from '../scripted-cluster.ts'

const illegalGeneration = 22

function join(over: Parameters<typeof scriptedCluster>[1]) {
  const world = scriptedCluster([], over)
  const membership = joinGroup({
    cluster: world.cluster,
    log: pino({ level: 'silent' }),
    group: 'g',
    topic: 't',
    sessionMs: 10_000,
    heartbeatMs: 1_000,
    rebalanceMs: 10_000,
    leaves: true,
    onAssigned: () => {},
    onLost: () => {},
    beforeJoin: async () => {},
    onFailed: () => {},
  })
  return { ...world, membership }
}

it('does not join a group that it left while it looked for the coordinator', async () => {
  const found = Promise.withResolvers<void>()
  const coordinator = { id: 1, host: 'h', port: 1 }
  const { membership, links, requests } = join({
    coordinatorOf: () => found.promise.then(() => coordinator),
  })
  await turns()
  await membership.leave()
  found.resolve()
  await turns()
  expect([links.map(({ isOpen }) => isOpen), requests]).toEqual([[false], []])
})

it('waits longer from the third denial in a row on, however fast the group rejects', async () => {
  const { membership, requests, clock } = join({
    coordinatorOf: async () => ({ id: 1, host: 'h', port: 1 }),
  })
  const refuse = () => requests.at(-1)?.fail(protocolError(illegalGeneration))
  await turns()
  await refuse()
  await refuse()
  expect(requests).toHaveLength(3)
  await refuse()
  expect([requests.length, clock.waiting()]).toEqual([3, [50]])
  clock.advance(50)
  await turns()
  await refuse()
  expect([requests.length, clock.waiting()]).toEqual([4, [100]])
  await membership.leave()
})
