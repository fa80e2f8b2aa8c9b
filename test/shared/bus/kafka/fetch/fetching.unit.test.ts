// Fetching against a scripted cluster: the test decides each answer of a broker and its time.

import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { Cluster } from '../../../../../shared/bus/kafka/cluster/cluster.ts'
import type { Topic } from '../../../../../shared/bus/kafka/cluster/cluster-topics.ts'
import type { Link } from '../../../../../shared/bus/kafka/cluster/link.ts'
import type { Node } from '../../../../../shared/bus/kafka/driver.ts'
import type { Cursor } from '../../../../../shared/bus/kafka/fetch/fetch-cursors.ts'
import type { FetchedPartition } from '../../../../../shared/bus/kafka/fetch/fetch-request.ts'
import { createFetching, type Fetching } from '../../../../../shared/bus/kafka/fetch/fetching.ts'
import type { Written } from '../../../../../shared/bus/kafka/own-records.ts'
import { encodeBatch } from '../../../../../shared/bus/kafka/protocol/record-batch.ts'
import { type HandClock, handClock } from '../../hand-clock.ts'
import { textOf } from '../../recording-readers.ts'

type PendingRequest = {
  link: number
  node: number
  waitMs: number | undefined
  answer(...partitions: FetchedPartition[]): Promise<void>
  fail(error: Error): Promise<void>
}

let fetching: Fetching | undefined
afterEach(() => fetching?.close())

/** `requests`: the pending requests, in order. */
function scriptedCluster(topics: Topic[]): {
  cluster: Cluster
  clock: HandClock
  requests: PendingRequest[]
  links: { isOpen: boolean }[]
  refreshes: () => number
} {
  const clock = handClock()
  const requests: PendingRequest[] = []
  const links: { isOpen: boolean }[] = []
  let refreshes = 0
  const cluster: Cluster = {
    clock,
    known: (name) => topics.find((topic) => topic.name === name),
    topic: async (name) => topics.find((topic) => topic.name === name) as Topic,
    kind: async () => 'log',
    ends: async (_, partitions = [0]) =>
      partitions.map((partition) => ({ partition, begin: 0, end: 100 })),
    end: async () => 100,
    offsetSince: async () => undefined,
    coordinatorOf: () => Promise.reject(new Error('not asked')),
    async refresh() {
      refreshes += 1
    },
    async connect(node: Node): Promise<Link> {
      const state = { isOpen: true }
      const link = links.push(state) - 1
      return {
        node,
        get isOpen() {
          return state.isOpen
        },
        request: (_, waitMs) =>
          new Promise((resolve, reject) => {
            requests.push({
              link,
              node: node.id,
              waitMs,
              answer: (...partitions) => settled(() => resolve(partitions as never)),
              fail: (error) => settled(() => reject(error)),
            })
          }),
        close() {
          state.isOpen = false
        },
      }
    },
    assertNotResized() {},
    assertNotRecreated() {},
    lost: () => undefined,
    whenResized: () => () => {},
    retry: (_, work) => work(),
    close() {},
  }
  async function settled(act: () => void): Promise<void> {
    act()
    await turns()
  }
  return { cluster, clock, requests, links, refreshes: () => refreshes }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const node: Node = { id: 1, host: 'h', port: 1 }
const topic = (
  leaders: Topic['leaders'] = [node, node, node, node, node, node],
  id = 'id',
): Topic => ({ name: 't', id, leaders })

function cursor(
  partition: number,
  next = 0,
): Cursor & { seen: string[]; failures: string[]; isFull: boolean } {
  const made = {
    topic: 't',
    partition,
    next,
    skipsDeleted: false,
    isFull: false,
    seen: [] as string[],
    failures: [] as string[],
    hasRoom: () => !made.isFull,
    onRecords: (records: { value: Uint8Array | null }[]) =>
      void made.seen.push(...records.map(textOf)),
    onFailed: (error: { code: string }) => void made.failures.push(error.code),
  }
  return made
}

function fetched(partition: number, base: number, ...texts: string[]): FetchedPartition {
  const records = texts.map((text) => ({
    topic: 't',
    partition,
    key: 'k',
    value: new TextEncoder().encode(text),
  }))
  const set = texts.length === 0 ? Buffer.alloc(0) : encodeBatch(records, 1)
  if (texts.length > 0) set.writeBigInt64BE(BigInt(base), 0)
  return {
    topic: 't',
    partition,
    errorCode: 0,
    end: base + texts.length,
    begin: 0,
    aborted: [],
    set,
  }
}

function stored(partition: number, offset: number, ...texts: string[]): Written {
  const records = texts.map((text, n) => ({
    topic: 't',
    partition,
    key: 'k',
    value: new TextEncoder().encode(text),
    offset: offset + n,
    time: 1,
  }))
  const end = offset + texts.length
  return { topic: 't', partition, from: offset, end, records: () => records }
}

function start(cluster: Cluster, requestsMax = 2): Fetching {
  const limits = { partitionBytesMax: 1000, bytesMax: 1000 }
  fetching = createFetching({ cluster, log: pino({ level: 'silent' }), requestsMax, ...limits })
  return fetching
}

describe('fetching', () => {
  it('reads many partitions with one request, each from its own offset', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const [zero, one] = [cursor(0), cursor(1, 10)]
    reading.add(zero)
    reading.add(one)
    await turns()
    expect(requests).toHaveLength(1)
    await requests[0]?.answer(fetched(0, 0, 'a', 'b'), fetched(1, 10))
    expect([zero.seen, zero.next, one.seen, one.next]).toEqual([['a', 'b'], 2, [], 10])
    expect(requests).toHaveLength(2)
  })

  it('does not let a later cursor wait after a waiting request', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    reading.add(cursor(0))
    await turns()
    const late = cursor(1)
    reading.add(late)
    await turns()
    expect(requests.map(({ link }) => link)).toEqual([0, 1])
    await requests[1]?.answer(fetched(1, 0, 'at once'))
    expect(late.seen).toEqual(['at once'])
  })

  it('skips a cursor without room until it is woken, and then fetches for it at once', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const full = cursor(0)
    full.isFull = true
    reading.add(full)
    await turns()
    expect(requests).toHaveLength(0)
    full.isFull = false
    reading.wake()
    await turns()
    expect(requests).toHaveLength(1)
  })

  it('shares a request among cursors at one offset, and uses another for a cursor elsewhere', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const [here, too, elsewhere] = [cursor(0), cursor(0), cursor(0, 5)]
    for (const each of [here, too, elsewhere]) reading.add(each)
    await turns()
    expect(requests).toHaveLength(2)
    await requests[0]?.answer(fetched(0, 0, 'a'))
    expect([here.seen, too.seen, elsewhere.seen]).toEqual([['a'], ['a'], []])
  })

  it('drops the records of a removed cursor, also if another cursor replaced it', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const [before, after] = [cursor(0), cursor(0, 50)]
    reading.add(before)
    await turns()
    reading.remove(before)
    reading.add(after)
    await turns()
    await requests[0]?.answer(fetched(0, 0, 'refresh'))
    await requests[1]?.answer(fetched(0, 50, 'fresh'))
    expect([before.seen, after.seen, after.next]).toEqual([[], ['fresh'], 51])
  })

  it('refreshes leaders and retries after a wait when one moved or is unreachable', async () => {
    const { cluster, clock, requests, refreshes } = scriptedCluster([topic()])
    const reading = start(cluster)
    const reader = cursor(0)
    reading.add(reader)
    await turns()
    await requests[0]?.answer({ ...fetched(0, 0), errorCode: 6 })
    expect([refreshes(), requests.length]).toEqual([1, 1])
    clock.advance(100)
    await turns()
    await requests[1]?.fail(Object.assign(new Error('gone'), { name: 'KafkaJSConnectionError' }))
    expect([refreshes(), requests.length]).toEqual([2, 2])
    clock.advance(200)
    await turns()
    await requests[2]?.answer(fetched(0, 0, 'a'))
    expect([reader.seen, reader.failures]).toEqual([['a'], []])
  })

  it('lets requests without records end together, and then sends one for all of them', async () => {
    const { cluster, clock, requests } = scriptedCluster([topic()])
    const reading = start(cluster, 8)
    const readers = [cursor(0), cursor(1)] as const
    reading.add(readers[0])
    await turns()
    clock.advance(2000)
    reading.add(readers[1])
    await turns()
    expect(requests.map(({ waitMs }) => waitMs)).toEqual([5000, 3000])
    clock.advance(3000)
    await requests[0]?.answer(fetched(0, 0))
    await requests[1]?.answer(fetched(1, 0))
    expect(requests).toHaveLength(2)
    clock.advance(8)
    await turns()
    expect(requests).toHaveLength(3)
    await requests[2]?.answer(fetched(0, 0, 'a'), fetched(1, 0, 'b'))
    expect(readers.map(({ seen }) => seen)).toEqual([['a'], ['b']])
  })

  it('lets a request wait briefly while half of the requests to its broker are in flight', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster, 4)
    for (const partition of [0, 1, 2, 3]) {
      reading.add(cursor(partition))
      await turns()
    }
    expect(requests.map(({ waitMs }) => waitMs)).toEqual([5000, 5000, 500, 500])
  })

  it('waits for a missing leader without a limit', async () => {
    const leaders: Topic['leaders'] = [undefined]
    const { cluster, clock, requests } = scriptedCluster([topic(leaders)])
    const reading = start(cluster)
    const reader = cursor(0)
    reading.add(reader)
    for (let second = 0; second < 300; second += 1) {
      await turns()
      clock.advance(1000)
    }
    expect([requests.length, reader.failures]).toEqual([0, []])
    leaders[0] = node
    clock.advance(5000)
    await turns()
    expect(requests).toHaveLength(1)
  })

  it('fails after a minute for a deleted topic, and at once for a recreated or forbidden one', async () => {
    const topics = [topic()]
    const { cluster, clock, requests } = scriptedCluster(topics)
    const reading = start(cluster, 6)
    const [refused, again] = [cursor(0), cursor(1)]
    reading.add(refused)
    reading.add(again)
    await turns()
    await requests[0]?.answer(
      { ...fetched(0, 0), errorCode: 29 },
      { ...fetched(1, 0), errorCode: 3 },
    )
    expect(refused.failures).toEqual(['bus.unauthorized'])
    topics[0] = topic([node, node], 'another id')
    clock.advance(100)
    await turns()
    expect(again.failures).toEqual(['bus.commit-outside-log'])
    const gone = cursor(1)
    reading.add(gone)
    await turns()
    topics.length = 0
    await requests.at(-1)?.answer({ ...fetched(1, 0), errorCode: 3 })
    const seconds = async (count: number) => {
      for (let second = 0; second < count; second += 1) {
        clock.advance(1000)
        await turns()
      }
    }
    await seconds(50)
    expect(gone.failures).toEqual([])
    await seconds(20)
    expect(gone.failures).toEqual(['bus.topic-missing'])
  })

  it('reconnects when a partition has records but returns none, and fails if that does not help', async () => {
    const { cluster, clock, requests, links } = scriptedCluster([topic()])
    const reading = start(cluster)
    const reader = cursor(0)
    reading.add(reader)
    await turns()
    const yieldsNone = { ...fetched(0, 0), end: 10 }
    for (let half = 0; half < 4; half += 1) {
      await requests.at(-1)?.answer(yieldsNone)
      clock.advance(31_000)
      await turns()
    }
    expect(links.length).toBeGreaterThan(1)
    expect(links[0]?.isOpen).toBe(false)
    for (let half = 0; half < 6 && reader.failures.length === 0; half += 1) {
      await requests.at(-1)?.answer(yieldsNone)
      clock.advance(31_000)
      await turns()
    }
    expect(reader.failures).toEqual(['bus.record-unreadable'])
  })

  it('reports the end with each response that has nothing after it, and with no other', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const atEnd: number[] = []
    const reader: Cursor = { ...cursor(0), onEnd: () => void atEnd.push(reader.next) }
    reading.add(reader)
    await turns()
    await requests.at(-1)?.answer({ ...fetched(0, 0, 'first'), end: 2 })
    expect(atEnd).toEqual([])
    await requests.at(-1)?.answer({ ...fetched(0, 1, 'second'), end: 2 })
    await requests.at(-1)?.answer({ ...fetched(0, 2), end: 2 })
    await requests
      .at(-1)
      ?.fail(Object.assign(new Error('gone'), { name: 'KafkaJSConnectionError' }))
    expect(atEnd).toEqual([2, 2])
  })

  it('gives a cursor the records of this process at once, and skips them in the response that follows', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const reader = cursor(0, 4)
    reading.add(reader)
    await turns()
    reading.onWritten(stored(0, 4, 'a', 'b'))
    expect([reader.seen, reader.next]).toEqual([['a', 'b'], 6])
    await requests[0]?.answer(fetched(0, 4, 'a', 'b', "another writer's"))
    expect([reader.seen, reader.next]).toEqual([['a', 'b', "another writer's"], 7])
  })

  it.each([
    ['behind records of another writer', 5, false],
    ['for which it has no room', 4, true],
    ['that it has already', 3, false],
  ])('gives a cursor no records %s', async (_, offset, isFull) => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const reader = cursor(0, 4)
    reading.add(reader)
    await turns()
    reader.isFull = isFull
    reading.onWritten(stored(0, offset, 'own'))
    expect([reader.seen, reader.next]).toEqual([[], 4])
    reader.isFull = false
    await requests[0]?.answer(fetched(0, 4, 'first', 'own'))
    expect(reader.seen).toEqual(['first', 'own'])
  })

  it('gives no records of a topic that was created again', async () => {
    const topics = [topic()]
    const { cluster } = scriptedCluster(topics)
    const reading = start(cluster)
    const reader = cursor(0)
    reading.add(reader)
    await turns()
    topics[0] = topic([node], 'another id')
    reading.onWritten(stored(0, 0, 'new'))
    expect(reader.seen).toEqual([])
  })

  it('fetches a partition that only this process writes a moment after its last write, and any other at once', async () => {
    const { cluster, clock, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const [own, other] = [cursor(0), cursor(1)]
    reading.add(own)
    reading.add(other)
    await turns()
    reading.onWritten(stored(0, 0, 'a'))
    await requests[0]?.answer(fetched(0, 0, 'a'), fetched(1, 0, 'foreign'))
    expect(requests).toHaveLength(2) // of the other partition
    clock.advance(60)
    reading.onWritten(stored(0, 1, 'b'))
    clock.advance(60)
    await turns()
    expect(requests).toHaveLength(2)
    clock.advance(40)
    await turns()
    expect(requests).toHaveLength(3)
    await requests[2]?.answer(fetched(0, 2, 'foreign too'))
    expect([own.seen, other.seen]).toEqual([['a', 'b', 'foreign too'], ['foreign']])
    reading.onWritten(stored(0, 3, 'c'))
    expect(own.seen.at(-1)).toBe('c')
    expect(requests).toHaveLength(4) // at once, and it stays: another process writes here
  })

  it('fetches at once when its own write shows records of another process before it', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const own = cursor(0)
    reading.add(own)
    await turns()
    reading.onWritten(stored(0, 0, 'a'))
    await requests[0]?.answer(fetched(0, 0, 'a'))
    expect(requests).toHaveLength(1)
    reading.onWritten(stored(0, 2, 'c'))
    await turns()
    expect(requests).toHaveLength(2)
    await requests[1]?.answer(fetched(0, 1, 'foreign', 'c'))
    expect(own.seen).toEqual(['a', 'foreign', 'c'])
  })

  it('does not count a fetched record of this process as one of another', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const own = cursor(0)
    reading.add(own)
    await turns()
    await requests[0]?.answer(fetched(0, 0, 'a')) // before the response to its write
    reading.onWritten(stored(0, 0, 'a'))
    await requests[1]?.answer(fetched(0, 1))
    expect(requests).toHaveLength(2)
    expect(own.seen).toEqual(['a'])
  })

  it('waits for a moment after many records with nothing after them, and not otherwise', async () => {
    const { cluster, clock, requests } = scriptedCluster([topic()])
    start(cluster).add(cursor(0))
    await turns()
    const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    await requests[0]?.answer({ ...fetched(0, 0, ...eight), end: 9 })
    expect(requests).toHaveLength(2) // there are more
    await requests[1]?.answer(fetched(0, 8, ...eight))
    expect(requests).toHaveLength(2)
    clock.advance(8)
    await turns()
    expect(requests).toHaveLength(3)
    await requests[2]?.answer(fetched(0, 16, ...eight.slice(1)))
    expect(requests).toHaveLength(4) // few
  })

  it('knows the ends that it read and that this process wrote', async () => {
    const { cluster, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    reading.add(cursor(0))
    await turns()
    await requests[0]?.answer({ ...fetched(0, 0, 'a'), end: 9 })
    reading.onWritten(stored(1, 5, 'b'))
    const seen = [0, 1, 2].map((partition) => reading.endSeen({ topic: 't', partition }))
    expect(seen).toEqual([9, 6, 0])
  })

  it('retries if the offset is in the log after all, because a new leader may lag for a moment', async () => {
    const { cluster, clock, requests } = scriptedCluster([topic()])
    const reading = start(cluster)
    const [inside, outside] = [cursor(0, 50), cursor(1, 500)]
    reading.add(inside)
    reading.add(outside)
    await turns()
    await requests[0]?.answer(
      { ...fetched(0, 50), errorCode: 1 },
      { ...fetched(1, 500), errorCode: 1 },
    )
    expect([inside.failures, outside.failures]).toEqual([[], ['bus.commit-outside-log']])
    clock.advance(1000)
    await turns()
    await requests.at(-1)?.answer(fetched(0, 50, 'there it is'))
    expect(inside.seen).toEqual(['there it is'])
  })
})
