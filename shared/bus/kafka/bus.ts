// The Kafka bus: the bus port on Apache Kafka or a broker with its protocol. It passes the same
// contract tests as the embedded bus (test/shared/bus/contract.ts).
//
//     append, steps ──▶ writer.ts: a queue per partition ──▶ sending.ts: one request at a time
//                       to each broker ─▶ acknowledged
//     subscribe ──▶ subscription.ts: membership.ts (the group)
//                   + partition-consumer.ts per partition ◀── fetching.ts ◀── leaders
//     read, follow ──▶ reading.ts ◀── fetching.ts
//     list, get, keys ──▶ tables.ts ──▶ table-store.ts (SQLite)
//     all of them ──▶ cluster.ts (topics, leaders) ──▶ link.ts (one connection, one purpose)
//                     ──▶ driver.ts (the inside of kafkajs)
//
// Differences from the embedded bus. Delivery is at least once: outputs and records may come twice
// after a failure, a crash or a rebalance. While a partition moves, or if its former owner was only
// paused, it has two readers for a moment. Other programs write as well. A record's time is the
// broker's. Each response to a write measures how far this machine's clock is from it
// (clock-skew.ts), and the bus's clock shows the brokers' time. So wrong clocks delay no deadline,
// and never change a decision.

import { Kafka, type KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { Bus, StoredRecord, Subscription, TopicSpec } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import { keepAlive } from '../../lib/alive.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import type { TopicNeed } from '../fleet/needed-topics.ts'
import { brokersClock, createClockSkew } from './clock-skew.ts'
import { type Cluster, createCluster } from './cluster/cluster.ts'
import { createTopics, topicDifferences, topicsUnfit } from './cluster/topic-admin.ts'
import { topicPlan } from './cluster/topic-plan.ts'
import { closedError } from './failure.ts'
import { createFetching } from './fetch/fetching.ts'
import { kafkajsLog } from './properties/kafkajs-log.ts'
import { createReading } from './reading.ts'
import { type SubscriptionTimes, startSubscription } from './subscription.ts'
import { openProcessPlace, type ProcessPlace } from './table/process-place.ts'
import { openTableStore } from './table/table-store.ts'
import { createTables } from './table/tables.ts'
import { createWriter, type Writer } from './write/writer.ts'

export type KafkaBusOptions = {
  /**
   * Brokers, TLS and SASL, as options of kafkajs (client-properties.ts). Its retries are unused:
   * the bus retries itself.
   */
  client: KafkaConfig
  clock: Clock
  log: Logger
  /** The folder for copies of tables, so a restart need not read them again. Absent: in memory. */
  tablesFolder?: string | undefined
  /** For topics that ensureTopics creates. 0, the default: the default of the brokers. */
  replicationFactor?: number | undefined
  /**
   * The bytes of one value. Default limits.recordBytesMax. Topics must accept it (`weir topics
   * check`).
   */
  recordBytesMax?: number | undefined
  /**
   * The bytes that may wait to be written before append rejects with a retryable `bus.full`.
   * Default 256 MiB.
   */
  queueBytesMax?: number | undefined
  /**
   * How long a failed write is retried before its caller gets the error. Default 5 minutes; at most
   * limits.shutdownGraceMs once the bus or all its subscriptions close.
   */
  deliverMs?: Milliseconds | undefined
  /** How long the first connection is tried. Default 1 minute. */
  connectMs?: Milliseconds | undefined
  times?: Partial<SubscriptionTimes> | undefined
  /** Whether a table keeps a record. Default: all. A refused record hides no earlier one. */
  accepts?: ((record: StoredRecord) => boolean) | undefined
  /** The hash of the agent files of this process, which its memberships announce. */
  agents?: string | undefined
  /** As in ClusterOptions. Default: `always`. */
  needOf?: ((topic: string) => TopicNeed) | undefined
  /** The name of this process in its groups. Absent: that of its place, if it has one. */
  instanceId?: string | undefined
  /** The begin of the files that hold the places of processes. Absent: the process has none. */
  placePath?: string | undefined
}

const noneDamaged: ReadonlyMap<number, string> = new Map()
const minute = 60_000
const queueBytesMaxDefault = 256 * 1024 * 1024
const timesDefault: SubscriptionTimes = {
  sessionMs: 10_000,
  heartbeatMs: 1_000,
  rebalanceMs: 15_000,
  commitMs: 250,
}
/** How long close waits for pending writes. */
const drainMs = 10_000

/**
 * Errors: `bus.unreachable` if no broker responds for connectMs, `bus.unauthorized`, `bus.refused`
 * (a broker that is too old), `settings.invalid`.
 */
export async function openKafkaBus(options: KafkaBusOptions): Promise<Bus> {
  const { clock, log } = options
  const recordBytesMax = options.recordBytesMax ?? limits.recordBytesMax
  const closed = new AbortController()
  const mayEnd = keepAlive() // between two tries there may be no socket, and the clock's timers do not keep the process alive
  const cluster = await openCluster(options, closed).catch((error) => {
    mayEnd()
    throw error
  })

  const fetching = createFetching({
    cluster,
    log,
    requestsMax: 8,
    partitionBytesMax: 1024 * 1024,
    bytesMax: 8 * 1024 * 1024,
  })
  const skew = createClockSkew(clock, log)
  const writer = createWriter({
    cluster,
    clock,
    log,
    recordBytesMax,
    skew,
    onWritten: fetching.onWritten,
    queueBytesMax: options.queueBytesMax ?? queueBytesMaxDefault,
    deliverMs: options.deliverMs ?? 5 * minute,
  })
  const reading = createReading({ cluster, fetching, closed: closed.signal })
  const store = openTableStore({ folder: options.tablesFolder, clock, log })
  const tables = createTables({
    cluster,
    fetching,
    store,
    writtenTo: writer.writtenTo,
    closed: closed.signal,
    accepts: options.accepts,
  })
  const subscriptions = createOpenSubscriptions(writer)
  const { placePath, instanceId } = options
  /** Taken by the first subscription: a client needs none. */
  let place: ProcessPlace | undefined
  let life: 'open' | 'closing' | 'closed' = 'open'
  let closing: Promise<void> | undefined

  /** While the bus closes, its readers may still append: for them `closing` is open enough. */
  function assertOpen(least: 'open' | 'closing'): void {
    if (life === 'closed' || (life === 'closing' && least === 'open')) throw closedError()
  }

  async function close(): Promise<void> {
    life = 'closing'
    await subscriptions.closeAll()
    await writer.drained(drainMs)
    life = 'closed'
    closed.abort()
    writer.close()
    fetching.close()
    reading.close()
    tables.close()
    place?.close()
    cluster.close()
    mayEnd()
  }

  return {
    clock: brokersClock(clock, skew),
    machineClock: clock,
    clockSkew: skew,
    provesFormerOwnersDead: false,
    addOwner: (owner) => place?.addOwner(owner),
    hasEnded: (owner) => place?.hasEnded(owner) === true,
    recordBytesMax,
    topicId: async (topic) => (await cluster.topic(topic)).id,
    ends: reading.ends,
    end: reading.end,
    offsetSince: reading.offsetSince,
    read: reading.read,
    follow: reading.follow,
    endSeen: fetching.endSeen,
    list: tables.list,
    get: tables.get,
    keys: tables.keys,

    async ensureTopics(specs) {
      assertOpen('open')
      // As long as the first connection: a service may start while the broker does not respond.
      await cluster.retry(
        'create and check the topics',
        () => createAndCheckTopics(options, specs, recordBytesMax),
        options.connectMs ?? minute,
      )
      for (const { name } of specs) await cluster.topic(name)
    },

    async append(records) {
      assertOpen('closing')
      cluster.assertNotResized()
      return writer.append(records)
    },

    async subscribe(subscribeOptions) {
      assertOpen('open')
      await cluster.topic(subscribeOptions.topic)
      assertOpen('open')
      if (placePath !== undefined) place ??= openProcessPlace({ path: placePath, clock, log })
      return subscriptions.add(
        startSubscription({
          ...subscribeOptions,
          cluster,
          fetching,
          log,
          times: { ...timesDefault, ...options.times },
          write: writer.writeStep,
          instanceId: instanceId ?? place?.name,
          leaves: instanceId === undefined,
          agents: options.agents,
        }),
      )
    },

    close() {
      closing ??= close()
      return closing
    },
  }
}

async function openCluster(
  { client, clock, log, connectMs = minute, needOf }: KafkaBusOptions,
  closed: AbortController,
): Promise<Cluster> {
  const cluster = createCluster({ client, clock, log, closed: closed.signal, needOf })
  try {
    await cluster.retry('find the cluster', () => cluster.refresh(), connectMs)
    return cluster
  } catch (error) {
    closed.abort()
    cluster.close()
    throw error
  }
}

/** Throws `bus.topic-missing` or `bus.topic-differs` if a topic does not match its plan. */
async function createAndCheckTopics(
  { client, log, replicationFactor = 0 }: KafkaBusOptions,
  specs: TopicSpec[],
  recordBytesMax: number,
): Promise<void> {
  const plan = topicPlan(specs, { replicationFactor, recordBytesMax })
  const admin = new Kafka({ ...client, logCreator: kafkajsLog(log) }).admin()
  try {
    await admin.connect()
    await createTopics(admin, plan)
    const differences = await topicDifferences(admin, plan)
    if (differences.length > 0) throw topicsUnfit(differences)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}

/**
 * The open subscriptions of a bus. While all of them close, or the bus does, writes wait only
 * limits.shutdownGraceMs for a broker: closing readers wait for their writes.
 */
function createOpenSubscriptions(writer: Writer) {
  const all = new Set<Subscription>()
  const closing = new Set<Subscription>()
  let isBusClosing = false
  let liftLimit: (() => void) | undefined

  function limitWrites(): void {
    if (isBusClosing || closing.size === all.size)
      liftLimit ??= writer.limitWaits(limits.shutdownGraceMs)
  }

  async function closeOne(tracked: Subscription, subscription: Subscription): Promise<void> {
    closing.add(tracked)
    limitWrites()
    await subscription.close()
    closing.delete(tracked)
    all.delete(tracked)
    if (isBusClosing || closing.size > 0) return
    liftLimit?.()
    liftLimit = undefined
  }

  return {
    add(subscription: Subscription): Subscription {
      let closed: Promise<void> | undefined
      const tracked: Subscription = {
        get joined() {
          return subscription.joined
        },
        get damaged() {
          return subscription.damaged ?? noneDamaged
        },
        get unready() {
          return subscription.unready
        },
        failed: subscription.failed,
        close() {
          closed ??= closeOne(tracked, subscription)
          return closed
        },
      }
      all.add(tracked)
      return tracked
    },

    async closeAll(): Promise<void> {
      isBusClosing = true
      limitWrites()
      await Promise.all([...all].map((subscription) => subscription.close()))
    },
  }
}
