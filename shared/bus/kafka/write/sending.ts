// Sends the queued records: one request at a time to each broker, with one batch of every partition
// that it leads. Retries a failed batch until it is acknowledged or its time is over.

import type { Logger } from 'pino'
import type { Offset, RecordToAppend, StoredRecord } from '../../../contract/bus.ts'
import { partitionName } from '../../../contract/partition.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import type { WeirError } from '../../../lib/errors.ts'
import { backoffMs } from '../backoff.ts'
import type { MeasuredSkew } from '../clock-skew.ts'
import { type BrokerConnection, createBrokerConnection } from '../cluster/broker-connection.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { errorCodes, type Node, protocolError, sendRaw } from '../driver.ts'
import { asBusError, closedError, protocolTypeOf, recoveryOf } from '../failure.ts'
import { createLogThrottle } from '../log-throttle.ts'
import { onceSoon } from '../once-soon.ts'
import type { Written } from '../own-records.ts'
import { type Produced, produceRequest } from '../protocol/produce-request.ts'
import { encodeBatch } from '../protocol/record-batch.ts'
import { createPartitionQueues, type PartitionQueues } from './partition-queues.ts'
import type { Batch, Job, SendQueue } from './send-queue.ts'

/** Brokers accept requests of up to 100 MiB. A request always has at least one batch. */
const requestBytesMax = 8 * 1024 * 1024

/** `topicId`: the topic's id at the time of the write. */
export type WrittenEnd = { end: Offset; topicId: string | undefined }

export type Sending = {
  enqueue(records: RecordToAppend[], job: Job): void
  writtenTo(topic: string, partition: number): WrittenEnd | undefined
  close(): void
}

export type SendingOptions = {
  cluster: Cluster
  clock: Clock
  log: Logger
  /** How long a failed batch is retried. */
  deliverMs: Milliseconds
  /** Measured by each response. */
  skew: Pick<MeasuredSkew, 'begin'>
  /** Called with acknowledged records of one partition, if the broker reported their time. */
  onWritten(written: Written): void
  /** Called with the change in waiting bytes. */
  countBytes(bytes: number): void
}

type Queued = { queue: SendQueue; batch: Batch }

export function createSending(options: SendingOptions): Sending {
  const { cluster, clock, log, deliverMs } = options
  const queues = createPartitionQueues(options.countBytes)
  const connections = createConnections(cluster)
  const written = new Map<string, WrittenEnd>()
  const throttle = createLogThrottle(clock)
  const flushSoon = onceSoon(flush)
  const pace = createPace(clock, flush)
  let isClosed = false

  function flush(): void {
    for (const [connection, { queued }] of planRequests(queues, connectionFor, pace.isDue, clock)) {
      pace.sent(connection, queued)
      void send(connection, queued)
    }
  }

  /** The connection to the partition's leader. Without a leader the batch is retried later. */
  function connectionFor(queue: SendQueue): BrokerConnection | undefined {
    const connection = connections.toLeader(queue)
    if (typeof connection !== 'number') return connection
    queues.hold(queue)
    onFailure([queue], protocolError(connection))
    return undefined
  }

  async function send(connection: BrokerConnection, queued: Queued[]): Promise<void> {
    const time = clock.now()
    const measured = options.skew.begin()
    try {
      const request = produceRequest(queued.map((each) => encodedBatch(each, time)))
      const responses = await connection.request((broker) => sendRaw(broker, request))
      for (const { appendTime } of responses) if (appendTime !== undefined) measured(appendTime)
      const byName = new Map(responses.map((response) => [partitionName(response), response]))
      for (const each of queued) onResponse(each, byName.get(partitionName(each.queue)), time)
    } catch (error) {
      const failed = queued.map(({ queue }) => queue)
      onFailure(failed, error)
    }
    flush()
  }

  function onResponse(
    { queue, batch }: Queued,
    response: Produced | undefined,
    time: Milliseconds,
  ): void {
    if (response === undefined || response.errorCode !== 0)
      return onFailure([queue], protocolError(response?.errorCode ?? errorCodes.unknownServerError))
    const { topic, partition } = queue
    const { baseOffset, appendTime } = response
    const end = baseOffset + batch.entries.length
    if (batch.failures > 0 && throttle.reset()) log.info({ topic, partition }, 'writes work again')
    written.set(partitionName(queue), { end, topicId: cluster.known(topic)?.id })
    queue.acknowledged(batch, baseOffset, appendTime ?? time)
    queues.release(queue)
    const place = { topic, partition, from: baseOffset, end }
    if (appendTime !== undefined)
      options.onWritten({ ...place, records: () => storedRecords(batch, baseOffset, appendTime) })
  }

  /** The batches stay first in their queues. All retries share one wait. */
  function onFailure(failed: SendQueue[], error: unknown): void {
    const retries: Queued[] = []
    for (const queue of failed) {
      const batch = queues.nextBatch(queue)
      if (batch === undefined) continue
      const triedMs = countFailure(batch, clock.monotonic())
      const reason = writeError(queue, error)
      switch (isClosed ? 'fail-batch' : nextStep(batch, error, triedMs > deliverMs)) {
        case 'split':
          queue.split()
          queues.release(queue)
          break
        case 'fail-batch':
          failQueue(queue, isClosed ? closedError() : reason, false)
          break
        case 'fail-queue':
          failQueue(queue, reason, true)
          break
        case 'retry':
          retries.push({ queue, batch })
          if (throttle.isDue(clock.monotonic() - triedMs))
            log.warn({ reason: reason.message, tries: batch.failures }, 'a write fails; retrying')
      }
    }
    flushSoon()
    if (retries.length > 0) void retryLater(retries, error)
  }

  async function retryLater(retries: Queued[], error: unknown): Promise<void> {
    const failures = Math.min(...retries.map(({ batch }) => batch.failures))
    await new Promise<void>((resolve) => clock.after(backoffMs(failures), resolve))
    if (recoveryOf(error) === 'refresh') await cluster.refresh().catch(() => {}) // the next try reports a failure
    for (const { queue } of retries) queues.release(queue)
    flush()
  }

  function failQueue(queue: SendQueue, error: WeirError, withRest: boolean): void {
    log.error({ err: error }, 'records could not be written; their callers get the error')
    queue.fail(error, withRest)
    queues.release(queue)
  }

  return {
    enqueue(records, job) {
      for (const [index, record] of records.entries()) queues.add(record, job, index)
      flushSoon()
    },

    writtenTo: (topic, partition) => written.get(partitionName({ topic, partition })),

    close() {
      isClosed = true
      pace.close()
      for (const queue of queues.drain()) queue.fail(closedError(), true)
      connections.close()
    },
  }
}

/**
 * After a request with the records of many callers the next one starts no earlier than `gatherMs`
 * later: under load fewer and larger requests cost less. Few callers never wait.
 */
const gatherMs = 4
const manyCallers = 5

/** `flush`: called when a connection is due again. */
function createPace(clock: Clock, flush: () => void) {
  const dueAt = new WeakMap<BrokerConnection, Milliseconds>()
  let cancel: (() => void) | undefined

  return {
    isDue(connection: BrokerConnection): boolean {
      const waitMs = (dueAt.get(connection) ?? 0) - clock.monotonic()
      if (waitMs <= 0) return true
      cancel ??= clock.after(waitMs, () => {
        cancel = undefined
        flush()
      })
      return false
    },

    sent(connection: BrokerConnection, queued: Queued[]): void {
      const callers = new Set(queued.flatMap(({ batch }) => batch.entries.map(({ job }) => job)))
      if (callers.size >= manyCallers) dueAt.set(connection, clock.monotonic() + gatherMs)
    },

    close: () => cancel?.(),
  }
}

type Request = { queued: Queued[]; room: number }

/** One request for each connection that is due and not busy. Its queues are held. */
function planRequests(
  queues: PartitionQueues,
  connectionFor: (queue: SendQueue) => BrokerConnection | undefined,
  isDue: (connection: BrokerConnection) => boolean,
  clock: Clock,
): Map<BrokerConnection, Request> {
  const requests = new Map<BrokerConnection, Request>()
  for (const queue of queues.ready) {
    const connection = connectionFor(queue)
    if (connection === undefined || connection.isBusy || !isDue(connection)) continue
    const request = requests.get(connection) ?? { queued: [], room: requestBytesMax }
    if (request.room <= 0) continue
    queues.hold(queue)
    const batch = queues.nextBatch(queue)
    if (batch === undefined) continue
    batch.firstTriedAt ??= clock.monotonic()
    request.room -= batch.bytes
    request.queued.push({ queue, batch })
    requests.set(connection, request)
  }
  return requests
}

/** One connection to each broker, and a new one if the broker's address changed. */
function createConnections({ known, connect }: Cluster) {
  const connections = new Map<number, BrokerConnection>()

  function to(node: Node): BrokerConnection {
    const open = connections.get(node.id)
    if (open !== undefined && open.node.host === node.host && open.node.port === node.port)
      return open
    open?.close()
    const connection = createBrokerConnection(node, connect)
    connections.set(node.id, connection)
    return connection
  }

  return {
    /** Or the error code of a partition without a leader. */
    toLeader({ topic, partition }: SendQueue): BrokerConnection | number {
      const found = known(topic)
      const leader = found?.leaders[partition]
      if (leader !== undefined) return to(leader)
      return found === undefined
        ? errorCodes.unknownTopicOrPartition
        : errorCodes.leaderNotAvailable
    },
    close(): void {
      for (const connection of connections.values()) connection.close()
    },
  }
}

function encodedBatch({ queue: { topic, partition }, batch }: Queued, time: Milliseconds) {
  const records = batch.entries.map(({ record }) => record)
  return { topic, partition, batch: encodeBatch(records, time) }
}

/** As a reader gets them from the broker. */
function storedRecords(batch: Batch, baseOffset: Offset, time: Milliseconds): StoredRecord[] {
  return batch.entries.map(({ record: { topic, partition, key, value, id, signature } }, n) => ({
    topic,
    partition,
    key,
    value,
    id,
    signature,
    offset: baseOffset + n,
    time,
  }))
}

/** A batch fails alone if no retry can help. If its time is over, all after it fail as well. */
function nextStep(
  batch: Batch,
  error: unknown,
  isTimeOver: boolean,
): 'split' | 'fail-batch' | 'fail-queue' | 'retry' {
  if (isTooLarge(error) && batch.entries.length > 1) return 'split'
  if (recoveryOf(error) === 'fail') return 'fail-batch'
  return isTimeOver ? 'fail-queue' : 'retry'
}

/** Returns how long the batch has been tried. */
function countFailure(batch: Batch, now: Milliseconds): Milliseconds {
  batch.failures += 1
  batch.firstTriedAt ??= now
  return now - batch.firstTriedAt
}

function writeError(queue: SendQueue, error: unknown): WeirError {
  return asBusError(error, {
    text: `write to ${partitionName(queue)}`,
    right: `Write on topic ${queue.topic}`,
  })
}

function isTooLarge(error: unknown): boolean {
  const type = protocolTypeOf(error)
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE'
}
