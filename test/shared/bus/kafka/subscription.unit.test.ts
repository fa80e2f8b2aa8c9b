// A subscription whose group changes at moments that a real broker cannot reproduce.
// rebalance.int.test.ts has the other cases.

import { expect, it } from '@jest/globals'
import { pino } from 'pino'
import { memberAssignment, protocolError } from '../../../../shared/bus/kafka/driver.ts'
import { createFetching } from '../../../../shared/bus/kafka/fetch/fetching.ts'
import { startSubscription } from '../../../../shared/bus/kafka/subscription.ts'
import type { PartitionReader } from '../../../../shared/contract/bus.ts'
import { scriptedCluster, turns } from './scripted-cluster.ts'

const rebalanceInProgress = 27
const coordinator = { id: 7, host: 'coordinator', port: 1 }
const leader = { id: 1, host: 'leader', port: 1 }

it('a failed restore of a partition that moved away does not fail the subscription while another restore runs', async () => {
  const { cluster, clock, requests } = scriptedCluster(
    [{ name: 't', id: 'id', leaders: [leader, leader] }],
    {
      coordinatorOf: async () => coordinator,
    },
  )
  const assigning = [
    Promise.withResolvers<PartitionReader>(),
    Promise.withResolvers<PartitionReader>(),
  ]
  const failures: unknown[] = []
  const log = pino({ level: 'silent' })
  const fetching = createFetching({
    cluster,
    log,
    requestsMax: 1,
    partitionBytesMax: 1_000,
    bytesMax: 1_000,
  })
  const subscription = startSubscription({
    cluster,
    fetching,
    log,
    group: 'g',
    topic: 't',
    write: async () => {},
    times: { sessionMs: 10_000, heartbeatMs: 1_000, rebalanceMs: 10_000, commitMs: 100 },
    assign: ({ ends }) => assigning[ends.partition]?.promise as Promise<PartitionReader>,
  })
  subscription.failed.catch((error: unknown) => failures.push(error))
  const groupAnswers = (answer: unknown) =>
    requests
      .filter(({ node }) => node === coordinator.id)
      .at(-1)
      ?.answer(answer)
  const groupGives = async (...partitions: number[]) => {
    await groupAnswers({ memberId: 'm', leaderId: 'another', generationId: 1, members: [] })
    await groupAnswers({
      memberAssignment: memberAssignment.encode({
        version: 1,
        assignment: { t: partitions },
        userData: Buffer.alloc(0),
      }),
    })
  }

  await turns()
  await groupGives(0, 1)
  await groupAnswers({ responses: [] }) // no commits
  clock.advance(1_000)
  await turns()
  await requests.at(-1)?.fail(protocolError(rebalanceInProgress))
  await groupGives(1)
  assigning[0]?.reject(new Error('half a past is none'))
  await turns()
  assigning[1]?.resolve({
    position: 0,
    read: async () => ({ outputs: [], commit: undefined }),
    acknowledged() {},
    close: async () => {},
  })
  await turns()
  expect([failures, subscription.joined]).toEqual([[], true])
  const closing = subscription.close()
  await turns()
  await groupAnswers({}) // the leaving
  await closing
  fetching.close()
})
