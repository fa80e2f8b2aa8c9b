// The writer against a scripted cluster. The contract and broker-away.int.test.ts test it on a real
// broker.

import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { Topic } from '../../../../../shared/bus/kafka/cluster/cluster-topics.ts'
import { type Node, protocolError } from '../../../../../shared/bus/kafka/driver.ts'
import type { Written } from '../../../../../shared/bus/kafka/own-records.ts'
import { createWriter } from '../../../../../shared/bus/kafka/write/writer.ts'
import type { StoredRecord } from '../../../../../shared/contract/bus.ts'
import { scriptedCluster, turns } from '../scripted-cluster.ts'

const [one, two]: [Node, Node] = [
  { id: 1, host: 'one', port: 1 },
  { id: 2, host: 'two', port: 2 },
]
const topicAuthorizationFailed = 29
const notLeader = 6
const record = (partition: number) => ({ topic: 't', partition, key: 'k', value: Buffer.from('v') })
const produced = (partition: number, baseOffset: number) => [
  { topic: 't', partition, errorCode: 0, baseOffset, appendTime: 1 },
]

function start(leaders: Topic['leaders'], over?: Parameters<typeof scriptedCluster>[1]) {
  const world = scriptedCluster([{ name: 't', id: 'id', leaders }], over)
  const written: StoredRecord[] = []
  const options = {
    clock: world.clock,
    log: pino({ level: 'silent' }),
    recordBytesMax: 1_000,
    queueBytesMax: 10_000,
    skew: { begin: () => () => {} },
    deliverMs: 60_000,
    onWritten: ({ records }: Written) => void written.push(...records()),
  }
  return { ...world, written, writer: createWriter({ cluster: world.cluster, ...options }) }
}

describe('the writer', () => {
  it('writes to a partition again after it lost its leader and its waiting records were dropped', async () => {
    const leaders: Topic['leaders'] = [one, two]
    const { writer, requests } = start(leaders)
    const first = writer.append([record(1)])
    await turns()
    const both = writer.append([record(0), record(1)])
    both.catch(() => {})
    await turns()
    expect(requests.map(({ node }) => node)).toEqual([2, 1])
    // the whole call has failed, and its second half waits after the first call
    await requests[1]?.fail(protocolError(topicAuthorizationFailed))
    await expect(both).rejects.toMatchObject({ code: 'bus.unauthorized' })

    leaders[1] = undefined
    await requests[0]?.answer(produced(1, 0))
    await first
    leaders[1] = two
    const next = writer.append([record(1)])
    await turns()
    expect(requests.map(({ node }) => node)).toEqual([2, 1, 2])
    await requests[2]?.answer(produced(1, 1))
    expect(await next).toMatchObject([{ offset: 1 }])
    writer.close()
  })

  it('fails waiting writes at the limit, and later ones soon after, if no response comes', async () => {
    const { writer, clock } = start([one])
    const ended: string[] = []
    const append = (name: string) =>
      void writer
        .append([record(0)])
        .catch(({ code, retryable }) =>
          ended.push(`${name}: ${code} ${retryable ? 'again' : 'no more'}`),
        )
    append('waits')
    await turns()
    writer.limitWaits(10_000)
    clock.advance(9_999)
    append('comes late')
    await turns()
    expect(ended).toEqual([])
    clock.advance(1)
    await turns()
    expect(ended).toEqual(['waits: bus.unreachable no more'])
    clock.advance(2_999)
    await turns()
    expect(ended).toEqual(['waits: bus.unreachable no more', 'comes late: bus.unreachable no more'])
    await writer.drained(10_000) // no write is pending any more
    writer.close()
  })

  it('lets writes wait again once the limit is lifted', async () => {
    const { writer, clock, requests } = start([one])
    const appended = writer.append([record(0)])
    await turns()
    const liftLimit = writer.limitWaits(10_000)
    liftLimit()
    clock.advance(20_000)
    await requests[0]?.answer(produced(0, 7))
    expect(await appended).toMatchObject([{ offset: 7 }])
    writer.close()
  })

  it('gathers records for a moment after a request of many callers, and not after one of few', async () => {
    const { writer, requests, clock } = start([one])
    const append = (callers: number) => {
      for (let n = 0; n < callers; n += 1) writer.append([record(0)]).catch(() => {})
      return turns()
    }
    await append(5)
    await requests[0]?.answer(produced(0, 0))
    await append(1)
    expect(requests).toHaveLength(1)
    clock.advance(4)
    await turns()
    expect(requests).toHaveLength(2)
    await requests[1]?.answer(produced(0, 5))
    await append(1)
    expect(requests).toHaveLength(3)
    writer.close()
  })

  it('reports records only when the broker has acknowledged them, with their offsets and the time of the broker', async () => {
    const { writer, requests, written } = start([one, one])
    const appended = writer.append([{ ...record(0), id: 'validator/0/1/0' }, record(1)])
    await turns()
    expect(written).toEqual([])
    await requests[0]?.answer([
      { topic: 't', partition: 0, errorCode: 0, baseOffset: 7, appendTime: 99 },
      { topic: 't', partition: 1, errorCode: notLeader, baseOffset: -1, appendTime: undefined },
    ])
    expect(written).toMatchObject([{ partition: 0, id: 'validator/0/1/0', offset: 7, time: 99 }])
    appended.catch(() => {})
    writer.close()
  })

  it('closes a connection that opens after the writer closed', async () => {
    const connecting = Promise.withResolvers<void>()
    const { writer, links, requests } = start([one], {
      connect: async (node) => {
        await connecting.promise
        return world.connect(node)
      },
    })
    const world = scriptedCluster([])
    const refused = writer.append([record(0)]).catch((error: unknown) => error)
    await turns()
    writer.close()
    connecting.resolve()
    await turns()
    expect(await refused).toMatchObject({ code: 'bus.closed' })
    expect([world.links.map(({ isOpen }) => isOpen), links, requests]).toEqual([[false], [], []])
  })
})
