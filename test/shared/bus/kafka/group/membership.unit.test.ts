// Membership in cases that need a slow broker at an exact moment. rebalance.int.test.ts has the
// other cases.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { protocolError } from '../../../../../shared/bus/kafka/driver.ts'
import { joinGroup } from '../../../../../shared/bus/kafka/group/membership.ts'
import { scriptedCluster, turns } from '../scripted-cluster.ts'

const illegalGeneration = 22
const fencedInstanceId = 82

const found = { coordinatorOf: async () => ({ id: 1, host: 'h', port: 1 }) }

function join(
  over: Parameters<typeof scriptedCluster>[1],
  options: Partial<Parameters<typeof joinGroup>[0]> = {},
) {
  const world = scriptedCluster([], over)
  const failures: string[] = []
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
    onFailed: ({ message }) => failures.push(message),
    ...options,
  })
  return { ...world, membership, failures }
}

type Joining = ReturnType<typeof join>

async function acceptJoin({ requests }: Joining, memberId: string): Promise<void> {
  await requests.at(-1)?.answer({ memberId, generationId: 1, leaderId: 'another', members: [] })
}

async function acceptSync({ requests }: Joining): Promise<void> {
  await requests.at(-1)?.answer({ memberAssignment: Buffer.alloc(0) })
}

async function fence({ requests, clock }: Joining): Promise<void> {
  await requests.at(-1)?.fail(protocolError(fencedInstanceId))
  clock.advance(Math.max(0, ...clock.waiting()))
  await turns()
}

it('does not join a group that it left while it looked for the coordinator', async () => {
  const looked = Promise.withResolvers<void>()
  const { membership, links, requests } = join({
    coordinatorOf: () => looked.promise.then(found.coordinatorOf),
  })
  await turns()
  await membership.leave()
  looked.resolve()
  await turns()
  expect([links.map(({ isOpen }) => isOpen), requests]).toEqual([[false], []])
})

it('waits longer from the third denial in a row on, however fast the group rejects', async () => {
  const { membership, requests, clock } = join(found)
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

it('joins again after a coordinator that moved fenced the id of its join', async () => {
  const member = join(found, { leaves: false, instanceId: 'a' })
  await turns()
  await acceptJoin(member, 'second')
  await fence(member) // of the sync: the new coordinator knows the id before this one
  await acceptJoin(member, 'third')
  await acceptSync(member)
  expect([member.membership.isMember, member.failures]).toEqual([true, []])
  await member.membership.leave()
})

it('with the name of its place joins again whenever it is fenced', async () => {
  const member = join(found, { leaves: true, instanceId: 'place' })
  await turns()
  await acceptJoin(member, 'first')
  await acceptSync(member)
  for (let time = 0; time < 8; time += 1) await fence(member)
  await acceptJoin(member, 'second')
  await acceptSync(member)
  expect([member.membership.isMember, member.failures]).toEqual([true, []])
  void member.membership.leave() // nobody answers it
})

it('with a chosen name fails when it is fenced as a member', async () => {
  const member = join(found, { leaves: false, instanceId: 'a' })
  await turns()
  await acceptJoin(member, 'first')
  await acceptSync(member)
  await fence(member)
  await fence(member)
  expect(member.failures).toEqual([expect.stringContaining('another process joined the group g')])
})

it('with a chosen name fails when its joins are fenced again and again', async () => {
  const member = join(found, { leaves: false, instanceId: 'a' })
  await turns()
  for (let time = 0; time < 8; time += 1) await fence(member)
  expect(member.failures).toHaveLength(1)
  expect(member.requests).toHaveLength(6)
})

it('sends fewer heartbeats once it has committed nothing for a session, and more after a commit', async () => {
  const member = join(found)
  const { requests, clock, membership } = member
  const beat = async () => {
    clock.advance(Math.min(...clock.waiting()))
    await turns()
    await requests.at(-1)?.answer({})
  }
  await turns()
  await acceptJoin(member, 'first')
  await acceptSync(member)
  for (let second = 0; second < 10; second += 1) {
    expect(clock.waiting()).toEqual([1_000])
    await beat()
  }
  expect(clock.waiting()).toEqual([3_000])
  void membership.commit(new Map())
  await turns()
  await requests.at(-1)?.answer({})
  await beat()
  expect(clock.waiting()).toEqual([1_000])
  void membership.leave() // nobody answers it
})
