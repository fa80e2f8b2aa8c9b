// Reads partitions from their leaders, many cursors in one request that waits until one of them has
// records. Subscriptions, followers and tables read through this. No consumer group is needed.
// A cursor is in one request at a time. So it gets its records in order, once, from its
// own offset on.
// No cursor waits after a waiting request: a new one, or one with room again, goes
// into another request at once, up to `requestsMax` for a broker.
// A failed request is retried after a growing wait. A cursor without a leader waits for
// one, and fails after leaderWaitMs if its topic is gone.
// A cursor never jumps. If its offset is outside the log, or its topic was created
// again, it fails with the reason.
// If a partition has records but returns none, fetching reconnects, and then the cursor
// fails.
// Requests without records to one broker end together, so their cursors gather in one request: an idle
// process sends few. A record ends its request at once, however long that waits.

import type { Logger } from 'pino'
import type { Offset } from '../../../contract/bus.ts'
import { partitionName } from '../../../contract/partition.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { type BrokerConnection, createBrokerConnection } from '../cluster/broker-connection.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Node, sendRaw } from '../driver.ts'
import { recoveryOf } from '../failure.ts'
import { onceSoon } from '../once-soon.ts'
import { createOwnRecords, ownAloneUntil, type Written } from '../own-records.ts'
import {
  type Cursor,
  type CursorState,
  createFetchCursors,
  endFetch,
  inFlight,
} from './fetch-cursors.ts'
import { fetchRequest } from './fetch-request.ts'
import { createResponseHandler } from './fetch-responses.ts'
import { createFetchWaits } from './fetch-waits.ts'

export type Fetching = {
  /** Reads for the cursor until it is removed or fails. */
  add(cursor: Cursor): void
  remove(cursor: Cursor): void
  /** A cursor has room again. */
  wake(): void
  /** An end that the partition has reached, as far as this process knows. 0: nothing is known. */
  endSeen(place: { topic: string; partition: number }): Offset
  /** This process wrote these records to a partition, and all its replicas have them. */
  onWritten(written: Written): void
  close(): void
}

export type FetchingOptions = {
  cluster: Cluster
  log: Logger
  /** Concurrent requests to one broker, each on its own connection. */
  requestsMax: number
  /** The bytes of one partition and of one response. The first batch is always whole. */
  partitionBytesMax: number
  bytesMax: number
}

/**
 * After a response with many records, and nothing after them, its cursors wait so long: under load
 * fewer and larger responses cost less. Few records never wait.
 */
const gatherMs = 8
const manyRecords = 8

const ownRestMs = 5_000

export function createFetching(options: FetchingOptions): Fetching {
  const { cluster, log, requestsMax, partitionBytesMax, bytesMax } = options
  const { clock } = cluster
  const cursors = createFetchCursors(cluster, log)
  const connections = createFetchConnections(cluster.connect, requestsMax)
  const waits = createFetchWaits(requestsMax, clock.monotonic)
  const wakeSoon = onceSoon(wake)
  const own = createOwnRecords(cluster, cursors, wakeSoon)
  let isClosed = false
  let cancelLater: (() => void) | undefined
  const onResponse = createResponseHandler({
    cluster,
    cursors,
    log,
    onFailure,
    onOthers: own.sawOthers,
    wake: wakeSoon,
  })

  function refreshAndWake(): void {
    if (!isClosed) cluster.refresh().then(wakeSoon, wakeSoon)
  }

  function wake(): void {
    if (isClosed) return
    const now = clock.monotonic()
    const { requests, nextAt } = planRequests(cursors.all(), now, (state) =>
      cursors.leaderOf(state, refreshAndWake),
    )
    if (nextAt < Number.POSITIVE_INFINITY) {
      cancelLater?.()
      cancelLater = clock.after(nextAt - now, wakeSoon)
    }
    for (const { node, sharers } of requests) {
      const connection = connections.idle(node)
      if (connection !== undefined) void fetch(connection, [...sharers.values()])
    }
  }

  /** `sharers`: by partition, the cursors that read it from the same offset. */
  async function fetch(connection: BrokerConnection, sharers: CursorState[][]): Promise<void> {
    const states = sharers.flat()
    const { node } = connection
    for (const state of states) if (state.phase.kind !== 'removed') state.phase = inFlight
    try {
      const waitMs = waits.waitMs(node, connections.busy(node))
      const partitions = sharers.flatMap(([state]) => (state === undefined ? [] : [fromOf(state)]))
      const request = fetchRequest(partitions, { waitMs, bytesMax, partitionBytesMax })
      const responses = await connection.request((broker) => sendRaw(broker, request), waitMs)
      endFetch(states)
      const byName = new Map(responses.map((response) => [partitionName(response), response]))
      let records = 0
      for (const state of states) {
        const response = byName.get(partitionName(state.cursor))
        if (response === undefined || state.phase.kind === 'removed') continue
        if (response.errorCode === 0) own.sawEnd(response)
        records += onResponse(state, response, () => connection.reset())
      }
      if (records >= manyRecords) gather(states, clock.monotonic() + gatherMs)
      if (responses.every(({ set }) => set.length === 0))
        gather(states, waits.nextAt(node, connections.busy(node)))
    } catch (error) {
      endFetch(states)
      if (!isClosed) onFailure(states, error)
    }
    wake()
  }

  function gather(states: CursorState[], until: Milliseconds): void {
    for (const state of states) state.gatherUntil = until
  }

  function onFailure(states: CursorState[], error: unknown): void {
    cursors.retryOrFail(states, error)
    if (recoveryOf(error) !== 'fail') refreshAndWake()
  }

  return {
    add(cursor) {
      cursors.add(cursor)
      wakeSoon()
    },

    remove: cursors.remove,
    wake: wakeSoon,
    endSeen: own.endSeen,

    onWritten: own.onWritten,

    close() {
      isClosed = true
      cancelLater?.()
      cursors.clear()
      connections.close()
    },
  }
}

/**
 * One request: by partition, the cursors that read it from the same offset. `isOwn`: only partitions
 * that this process alone writes. A request with both would end with each write of this process, so they
 * are together only where it has not written for `ownRestMs`.
 */
type FetchPlan = { node: Node; isOwn: boolean; sharers: Map<string, CursorState[]> }

/** The requests for all cursors that can be read now. `nextAt`: when the next backoff ends. */
function planRequests(
  states: CursorState[],
  now: Milliseconds,
  leaderOf: (state: CursorState) => Node | undefined,
): { requests: FetchPlan[]; nextAt: Milliseconds } {
  const requests: FetchPlan[] = []
  let nextAt = Number.POSITIVE_INFINITY
  for (const state of states) {
    const { phase, cursor } = state
    if (phase.kind === 'in-flight' || phase.kind === 'removed' || !cursor.hasRoom()) continue
    const ownUntil = ownAloneUntil(state, now)
    const isOwn = ownUntil > now - ownRestMs
    const at = phase.kind === 'backoff' ? phase.until : Math.max(state.gatherUntil, ownUntil)
    if (at > now) {
      nextAt = Math.min(nextAt, at)
      continue
    }
    const node = leaderOf(state)
    if (node === undefined) continue
    if (
      requests.some(
        (request) =>
          request.node.id === node.id && request.isOwn === isOwn && joins(request, state),
      )
    )
      continue
    requests.push({ node, isOwn, sharers: new Map([[partitionName(cursor), [state]]]) })
  }
  return { requests, nextAt }
}

/** A request names a partition once. A cursor at another offset needs another request. */
function joins({ sharers }: FetchPlan, state: CursorState): boolean {
  const name = partitionName(state.cursor)
  const others = sharers.get(name)
  if (others === undefined) sharers.set(name, [state])
  else if (others[0]?.cursor.next === state.cursor.next) others.push(state)
  else return false
  return true
}

function fromOf({ cursor: { topic, partition, next } }: CursorState): {
  topic: string
  partition: number
  from: Offset
} {
  return { topic, partition, from: next }
}

type FetchConnections = {
  /** A connection without a request. Undefined: all of the broker's are busy. */
  idle(node: Node): BrokerConnection | undefined
  /** The number of the broker's connections with a request. */
  busy(node: Node): number
  close(): void
}

function createFetchConnections(
  connect: Cluster['connect'],
  requestsMax: number,
): FetchConnections {
  const connections = new Map<number, BrokerConnection[]>()

  return {
    idle(node) {
      const known = connections.get(node.id) ?? []
      const usable = known.filter(
        ({ isBusy, node: { host, port } }) => isBusy || (host === node.host && port === node.port),
      )
      for (const connection of known) if (!usable.includes(connection)) connection.close()
      connections.set(node.id, usable)
      const idle = usable.find(({ isBusy }) => !isBusy)
      if (idle !== undefined || usable.length >= requestsMax) return idle
      const connection = createBrokerConnection(node, connect)
      usable.push(connection)
      return connection
    },

    busy: ({ id }) => (connections.get(id) ?? []).filter(({ isBusy }) => isBusy).length,

    close() {
      for (const connection of [...connections.values()].flat()) connection.close()
    },
  }
}
