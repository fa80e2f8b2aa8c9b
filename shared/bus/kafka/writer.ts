// The one place that writes records: a queue for each destination partition, and for each broker
// one request at a time with a batch of every partition that it leads and that has something
// waiting.
// KAFKA-WRITER-1. The order of a partition is the order in which append was called, and the order
//     within a call.
// KAFKA-WRITER-2. A failed send is repeated, the same batch first (send-queue.ts), until it is
//     acknowledged, or for deliverMs: then all that waits for that partition fails, so that nothing
//     overtakes. Who waits for it decides: a subscription fails, a performer's observation ends its
//     process. While what wrote closes, nobody waits so long: see hurry().
// KAFKA-WRITER-3. A record may be there twice after a failure: what was sent may have arrived
//     although no answer came. That is Kafka's at-least-once without an idempotent producer, and
//     readers drop repeats (R3).
// KAFKA-WRITER-4. What waits is bounded in bytes: beyond it append refuses with a retryable
//     `bus.full`. Steps of subscriptions are taken always: there is one at a time for each
//     partition that is read.

import type { Logger } from 'pino'
import type { Appended, Offset, RecordToAppend } from '../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { backoffMs } from './backoff.ts'
import type { Cluster } from './cluster.ts'
import { createComplaint } from './complaint.ts'
import { type Node, protocolError, sendRaw } from './driver.ts'
import { asBusError, protocolTypeOf, troubleOf } from './failure.ts'
import type { Link } from './link.ts'
import { type Produced, produceRequest } from './produce-request.ts'
import { encodeBatch } from './record-batch.ts'
import { type Batch, createSendQueue, type Job, type SendQueue } from './send-queue.ts'

/**
 * A batch as large as brokers and consumers take without being told otherwise, less what they add
 * to it.
 */
const batchBytesMax = 1_000_000
/** What a write has that comes when the hurry is nearly over: a broker that is there needs less. */
const hurriedMsMin = 3_000
/** A request ends at whichever comes first; one batch is always in it. Brokers take 100 MiB. */
const requestBytesMax = 8 * 1024 * 1024

export type Writer = {
  append(records: RecordToAppend[]): Promise<Appended[]>
  /** As append, but never refused for what waits already. */
  writeStep(records: RecordToAppend[]): Promise<void>
  /**
   * The offset behind the newest record that this process wrote there, and the topic's id at that
   * time.
   */
  writtenTo(
    topic: string,
    partition: number,
  ): { end: Offset; topicId: string | undefined } | undefined
  /**
   * From now on until the returned function is called: who waits for a write waits `ms` from now at
   * most, and who comes later 3 seconds at least. Then the write fails with a `bus.unreachable`
   * that is not to be repeated; its records stay first in their order and may still be written
   * (KAFKA-WRITER-3).
   */
  hurry(ms: Milliseconds): () => void
  /** Resolves when nobody waits for a write any more, or after `waitMs`. */
  drained(waitMs: Milliseconds): Promise<void>
  /** What still waits fails with `bus.closed`. */
  close(): void
}

export type WriterOptions = {
  cluster: Cluster
  clock: Clock
  log: Logger
  recordBytesMax: number
  queueBytesMax: number
  /** How long the send of a batch is repeated. */
  deliverMs: Milliseconds
}

/** `waiting`: of those partitions that it leads; `link`: opened when it is first needed. */
type Sender = { node: Node; link: Link | undefined; isBusy: boolean }

export function createWriter(options: WriterOptions): Writer {
  const { cluster, clock, log, recordBytesMax, queueBytesMax, deliverMs } = options
  const queues = new Map<string, SendQueue>()
  /** Those with something to send that is not being sent, in the order in which they came. */
  const ready = new Set<SendQueue>()
  const senders = new Map<number, Sender>()
  const written = new Map<string, { end: Offset; topicId: string | undefined }>()
  const complaint = createComplaint(clock)
  let waitingBytes = 0
  let isFlushDue = false
  let admitting: Promise<unknown> | undefined
  let isClosed = false
  /** Those that somebody waits for, each with what takes back its early end. */
  const jobs = new Map<Job, () => void>()
  let hurryUntil: Milliseconds | undefined
  let whenDrained: (() => void)[] = []

  function waits(bytes: number): void {
    waitingBytes += bytes
  }

  function flushSoon(): void {
    if (isFlushDue) return
    isFlushDue = true
    setImmediate(() => {
      isFlushDue = false
      flush()
    })
  }

  function flush(): void {
    const requests = new Map<Sender, { queue: SendQueue; batch: Batch }[]>()
    const room = new Map<Sender, number>()
    for (const queue of ready) {
      const topic = cluster.known(queue.topic)
      const leader = topic?.leaders[queue.partition]
      if (leader === undefined) {
        ready.delete(queue)
        notSent(
          [queue],
          protocolError(topic === undefined ? unknownTopicOrPartition : leaderNotAvailable),
        )
        continue
      }
      const sender = senderOf(leader)
      const left = room.get(sender) ?? requestBytesMax
      if (sender.isBusy || left <= 0) continue
      ready.delete(queue)
      const batch = queue.next(batchBytesMax)
      if (batch === undefined) {
        queues.delete(nameOf(queue.topic, queue.partition))
        continue
      }
      batch.firstTriedAt ??= clock.monotonic()
      room.set(sender, left - batch.bytes)
      requests.set(sender, [...(requests.get(sender) ?? []), { queue, batch }])
    }
    for (const [sender, batches] of requests) void send(sender, batches)
  }

  function senderOf(node: Node): Sender {
    const known = senders.get(node.id)
    if (known !== undefined && known.node.host === node.host && known.node.port === node.port)
      return known
    known?.link?.close()
    const sender: Sender = { node, link: undefined, isBusy: false }
    senders.set(node.id, sender)
    return sender
  }

  async function send(
    sender: Sender,
    batches: { queue: SendQueue; batch: Batch }[],
  ): Promise<void> {
    sender.isBusy = true
    const time = clock.now()
    try {
      const request = produceRequest(
        batches.map(({ queue: { topic, partition }, batch }) => ({
          topic,
          partition,
          batch: encodeBatch(
            batch.entries.map(({ record }) => record),
            time,
          ),
        })),
      )
      sender.link = sender.link?.isOpen ? sender.link : await cluster.connect(sender.node)
      if (isClosed) sender.link.close()
      const answers = await sender.link.ask((broker) => sendRaw(broker, request))
      const byName = new Map(
        answers.map((answer) => [nameOf(answer.topic, answer.partition), answer]),
      )
      for (const { queue, batch } of batches)
        take(queue, batch, byName.get(nameOf(queue.topic, queue.partition)), time)
    } catch (error) {
      notSent(
        batches.map(({ queue }) => queue),
        error,
      )
    }
    sender.isBusy = false
    flush()
  }

  function take(
    queue: SendQueue,
    batch: Batch,
    answer: Produced | undefined,
    time: Milliseconds,
  ): void {
    if (answer === undefined || answer.errorCode !== 0)
      return notSent([queue], protocolError(answer?.errorCode ?? unknownServerError))
    const { topic, partition } = queue
    if (batch.failures > 0 && complaint.isOver()) log.info({ topic, partition }, 'writing goes on')
    written.set(nameOf(topic, partition), {
      end: answer.baseOffset + batch.entries.length,
      topicId: cluster.known(topic)?.id,
    })
    queue.acknowledged(batch, answer.baseOffset, answer.appendTime ?? time)
    if (queue.isEmpty) queues.delete(nameOf(topic, partition))
    else ready.add(queue)
  }

  /** Their batches stay first (KAFKA-WRITER-2): all are tried again after one wait, or given up. */
  function notSent(failed: SendQueue[], error: unknown): void {
    const again: SendQueue[] = []
    for (const queue of failed) {
      const batch = queue.next(batchBytesMax)
      if (batch === undefined) {
        queues.delete(nameOf(queue.topic, queue.partition)) // nobody wants the rest of it; a queue that stays is one that somebody sends
        continue
      }
      batch.failures += 1
      batch.firstTriedAt ??= clock.monotonic()
      const doing = `write to ${queue.topic}/${queue.partition}`
      if (isTooLarge(error) && batch.entries.length > 1) {
        queue.split()
        ready.add(queue)
      } else if (isClosed || troubleOf(error) === 'lasting') {
        giveUp(queue, isClosed ? closedError() : asBusError(error, doing), false)
      } else if (clock.monotonic() - batch.firstTriedAt > deliverMs) {
        giveUp(queue, asBusError(error, doing), true)
      } else {
        again.push(queue)
        if (complaint.isDue(batch.firstTriedAt))
          log.warn(
            { reason: asBusError(error, doing).message, tries: batch.failures },
            'writing fails; it is tried again, and nothing overtakes it',
          )
      }
    }
    flushSoon()
    if (again.length > 0) void tryAgain(again, error)
  }

  async function tryAgain(queues: SendQueue[], error: unknown): Promise<void> {
    const failures = Math.min(...queues.map((queue) => queue.next(batchBytesMax)?.failures ?? 1))
    await new Promise<void>((resolve) => clock.after(backoffMs(failures), resolve))
    if (troubleOf(error) === 'stale') await cluster.refresh().catch(() => {}) // where that fails, the next try will say so
    for (const queue of queues) if (!queue.isEmpty) ready.add(queue)
    flush()
  }

  function giveUp(queue: SendQueue, error: WeirError, rest: boolean): void {
    log.error({ err: error }, 'records could not be written; who wanted them written is told')
    queue.fail(error, rest)
    if (queue.isEmpty) {
      ready.delete(queue)
      queues.delete(nameOf(queue.topic, queue.partition))
    } else ready.add(queue)
  }

  function enqueue(records: RecordToAppend[]): Promise<Appended[]> {
    if (isClosed) return Promise.reject(closedError())
    if (records.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      const job: Job = {
        ...{ appended: new Array(records.length), left: records.length, settled: false },
        resolve(appended) {
          over(job)
          resolve(appended)
        },
        reject(error) {
          over(job)
          reject(error)
        },
      }
      jobs.set(job, endIfHurried(job))
      for (const [index, record] of records.entries()) {
        const name = nameOf(record.topic, record.partition)
        let queue = queues.get(name)
        if (queue === undefined) {
          queue = createSendQueue(record.topic, record.partition, waits)
          queues.set(name, queue)
          ready.add(queue)
        }
        queue.add(record, job, index)
      }
      flushSoon()
    })
  }

  function over(job: Job): void {
    jobs.get(job)?.()
    jobs.delete(job)
    if (jobs.size === 0) tellDrained()
  }

  function endIfHurried(job: Job): () => void {
    if (hurryUntil === undefined) return () => {}
    return clock.after(Math.max(hurryUntil - clock.monotonic(), hurriedMsMin), () => {
      if (job.settled) return
      job.settled = true
      job.reject(
        new WeirError(
          'bus.unreachable',
          'no broker took a write before Weir had to stop: see whether the brokers run',
        ),
      )
    })
  }

  /** What can be said without asking. Answers the size of the values. */
  function checkSizes(records: RecordToAppend[]): number {
    let bytes = 0
    for (const { topic, key, value } of records) {
      const size = value?.byteLength ?? 0
      bytes += size
      if (size <= recordBytesMax) continue
      const why = `a record for ${topic} (key ${key}) has ${size} bytes, and the bus takes ${recordBytesMax}`
      throw new WeirError('bus.record-too-large', why)
    }
    return bytes
  }

  function areTopicsKnown(records: RecordToAppend[]): boolean {
    return records.every(({ topic, value }) => value !== null && cluster.known(topic) !== undefined)
  }

  async function askForTopics(records: RecordToAppend[]): Promise<void> {
    for (const topic of new Set(records.map((record) => record.topic))) await cluster.topic(topic)
    for (const { topic, key, value } of records) {
      if (value !== null || (await cluster.kind(topic)) === 'table') continue
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} is a log, and a tombstone (key ${key}) needs a table`,
      )
    }
  }

  function checkPartitions(records: RecordToAppend[]): void {
    for (const { topic, partition } of records) {
      const partitions = cluster.known(topic)?.leaders.length ?? 0
      if (partition >= 0 && partition < partitions) continue
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} has partitions 0 to ${partitions - 1}, and ${partition} was to be written`,
      )
    }
  }

  /**
   * Nothing is written before all is checked; where the broker must be asked for that, later calls
   * wait behind (KAFKA-WRITER-1).
   */
  async function admit(records: RecordToAppend[]): Promise<Appended[]> {
    if (admitting === undefined && areTopicsKnown(records)) {
      checkPartitions(records)
      return enqueue(records)
    }
    const checked = Promise.resolve(admitting).then(async () => {
      await askForTopics(records)
      checkPartitions(records)
      return { appended: enqueue(records) }
    })
    const mine = checked.then(
      () => {},
      () => {},
    )
    admitting = mine
    void mine.then(() => {
      if (admitting === mine) admitting = undefined
    })
    return (await checked).appended
  }

  async function allWritten(): Promise<void> {
    await admitting
    if (jobs.size > 0) await new Promise<void>((resolve) => whenDrained.push(resolve))
  }

  function tellDrained(): void {
    const told = whenDrained
    whenDrained = []
    for (const tell of told) tell()
  }

  return {
    async append(records) {
      const bytes = checkSizes(records)
      if (waitingBytes > 0 && waitingBytes + bytes > queueBytesMax) {
        const why = `${waitingBytes} bytes wait to be written to Kafka already: append when earlier appends are done, and see why the broker is slow`
        throw new WeirError('bus.full', why, { retryable: true })
      }
      return admit(records)
    },

    async writeStep(records) {
      checkSizes(records)
      await admit(records)
    },

    writtenTo: (topic, partition) => written.get(nameOf(topic, partition)),

    hurry(ms) {
      const until = clock.monotonic() + ms
      hurryUntil = until
      for (const [job, cancel] of jobs) {
        cancel()
        jobs.set(job, endIfHurried(job))
      }
      return () => {
        if (hurryUntil !== until) return
        hurryUntil = undefined
        for (const [job, cancel] of jobs) {
          cancel()
          jobs.set(job, () => {})
        }
      }
    },

    async drained(waitMs) {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(waitMs, resolve)
      await Promise.race([allWritten(), late])
      cancel()
    },

    close() {
      isClosed = true
      for (const queue of [...queues.values()]) queue.fail(closedError(), true)
      queues.clear()
      ready.clear()
      for (const { link } of senders.values()) link?.close()
    },
  }
}

function isTooLarge(error: unknown): boolean {
  const type = protocolTypeOf(error)
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE'
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

function closedError(): WeirError {
  return new WeirError('bus.closed', 'the bus is closed: open it again')
}

const unknownTopicOrPartition = 3
const leaderNotAvailable = 5
const unknownServerError = -1
