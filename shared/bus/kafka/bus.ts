// The Kafka bus: the port on Apache Kafka, or what speaks its protocol. test/shared/bus/contract.ts
// holds it to the same promises as the embedded bus.
//
//   append, steps ──▶ writer.ts ──▶ send-queue.ts per partition ──▶ one produce request per broker
//   at a time ─▶ acknowledged subscribe ──▶ subscription.ts: membership.ts (the group) + lane.ts
//   per partition ◀── fetching.ts ◀── leaders read, follow ──▶ reading.ts ◀── fetching.ts
//   list, get, keys ──▶ tables.ts ──▶ table-store.ts (SQLite) all of them ──▶ cluster.ts (topics,
//   leaders) ──▶ link.ts (one connection, one purpose) ──▶ driver.ts (the inside of kafkajs)
//
// Where it differs from the embedded bus: delivery is at least once, so outputs and records may
// come twice after a failure, a crash or a rebalance; a partition has two readers for a moment when
// it moves, or when its former owner was only paused; others write, too. The clock that readers are
// given is this machine's, while a record's time is the broker's: a tick that a fast clock writes
// too early is dropped and repeated a second later, one from a slow clock comes late. So the
// difference of the clocks delays deadlines and never changes what is decided.

import { Kafka, type KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { Bus, Subscription, TopicSpec } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { keepAlive } from '../embedded/alive.ts'
import { createCluster } from './cluster.ts'
import { createFetching } from './fetching.ts'
import { kafkajsLog } from './kafkajs-log.ts'
import { createReading } from './reading.ts'
import { type SubscriptionTimes, startSubscription } from './subscription.ts'
import { openTableStore } from './table-store.ts'
import { createTables } from './tables.ts'
import { createTopics, topicDifferences, topicsUnfit } from './topic-admin.ts'
import { topicPlan } from './topic-plan.ts'
import { createWriter } from './writer.ts'

export type KafkaBusOptions = {
  /**
   * Brokers, TLS and SASL as kafkajs takes them (client-properties.ts). Its retries are not used:
   * the bus repeats by itself.
   */
  client: KafkaConfig
  clock: Clock
  log: Logger
  /**
   * Where copies of tables are kept, so that a restart need not read them again. Absent: in memory.
   */
  tablesFolder?: string | undefined
  /** Of topics that ensureTopics creates; 0, the default: as the brokers say. */
  replicationFactor?: number | undefined
  /**
   * Bytes of one value. Default limits.recordBytesMax; topics must take it (`weir topics check`).
   */
  recordBytesMax?: number | undefined
  /**
   * Bytes that may wait to be written before append refuses with a retryable `bus.full`. Default
   * 256 MiB.
   */
  queueBytesMax?: number | undefined
  /**
   * How long a write is repeated while the broker is away, before those who wait for it fail.
   * Default 5 minutes; limits.shutdownGraceMs at most once the bus or all that it reads is being
   * closed.
   */
  deliverMs?: Milliseconds | undefined
  /** How long the first contact is tried. Default 1 minute. */
  connectMs?: Milliseconds | undefined
  times?: Partial<SubscriptionTimes> | undefined
}

const minute = 60_000
const queueBytesMaxDefault = 256 * 1024 * 1024
const timesDefault: SubscriptionTimes = {
  sessionMs: 10_000,
  heartbeatMs: 1_000,
  rebalanceMs: 15_000,
  commitMs: 250,
}
/** How long close waits for what callers still want written. */
const drainMs = 10_000

/**
 * Errors: `bus.unreachable` when no broker answered for connectMs, `bus.unauthorized`,
 * `bus.refused` (a broker that is too old), `settings.invalid`.
 */
export async function openKafkaBus(options: KafkaBusOptions): Promise<Bus> {
  const { client, clock, log } = options
  const recordBytesMax = options.recordBytesMax ?? limits.recordBytesMax
  const closed = new AbortController()
  const mayEnd = keepAlive() // timers of the clock do not, and between two tries there may be no socket
  const cluster = createCluster({ client, clock, log, closed: closed.signal })
  try {
    await cluster.retry('find the cluster', () => cluster.refresh(), options.connectMs ?? minute)
  } catch (error) {
    closed.abort()
    cluster.close()
    mayEnd()
    throw error
  }

  const fetching = createFetching({
    cluster,
    log,
    requestsMax: 4,
    partitionBytesMax: 1024 * 1024,
    bytesMax: 8 * 1024 * 1024,
  })
  const writer = createWriter({
    ...{ cluster, clock, log, recordBytesMax },
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
  })
  const subscriptions = new Set<Subscription>()
  const closingOnes = new Set<Subscription>()
  let liftLimit: (() => void) | undefined
  let life: 'open' | 'closing' | 'closed' = 'open'
  let closing: Promise<void> | undefined

  /**
   * While the bus closes, readers that close may still append: `closing` is open enough for them.
   */
  function assertOpen(least: 'open' | 'closing'): void {
    if (life === 'closed' || (life === 'closing' && least === 'open'))
      throw new WeirError('bus.closed', 'the bus is closed: open it again')
  }

  /**
   * When nothing here goes on, what waits for a broker that is away must not hold up the end:
   * readers that close wait for their writes.
   */
  function limitWrites(): void {
    const isAllClosing = life !== 'open' || closingOnes.size === subscriptions.size
    if (isAllClosing) liftLimit ??= writer.limitWaits(limits.shutdownGraceMs)
  }

  async function closeOne(tracked: Subscription, subscription: Subscription): Promise<void> {
    closingOnes.add(tracked)
    limitWrites()
    await subscription.close()
    closingOnes.delete(tracked)
    subscriptions.delete(tracked)
    if (life !== 'open' || closingOnes.size > 0) return
    liftLimit?.()
    liftLimit = undefined
  }

  async function ensureTopics(specs: TopicSpec[]): Promise<void> {
    // As long as a broker is looked for at first: a service that starts just when the broker does
    // not answer is no reason to give up.
    await cluster.retry(
      'create and check the topics',
      () => tryToEnsure(specs),
      options.connectMs ?? minute,
    )
    for (const { name } of specs) await cluster.topic(name)
  }

  async function tryToEnsure(specs: TopicSpec[]): Promise<void> {
    const plan = topicPlan(specs, {
      replicationFactor: options.replicationFactor ?? 0,
      recordBytesMax,
    })
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

  async function close(): Promise<void> {
    life = 'closing'
    limitWrites()
    await Promise.all([...subscriptions].map((subscription) => subscription.close()))
    await writer.drained(drainMs)
    life = 'closed'
    closed.abort()
    writer.close()
    fetching.close()
    reading.close()
    tables.close()
    cluster.close()
    mayEnd()
  }

  return {
    clock,
    provesFormerOwnersDead: false,
    recordBytesMax,
    ends: reading.ends,
    offsetSince: reading.offsetSince,
    read: reading.read,
    follow: reading.follow,
    list: tables.list,
    get: tables.get,
    keys: tables.keys,

    async ensureTopics(specs) {
      assertOpen('open')
      await ensureTopics(specs)
    },

    async append(records) {
      assertOpen('closing')
      return writer.append(records)
    },

    async subscribe(subscribeOptions) {
      assertOpen('open')
      await cluster.topic(subscribeOptions.topic)
      assertOpen('open')
      const subscription = startSubscription({
        ...subscribeOptions,
        ...{ cluster, log, times: { ...timesDefault, ...options.times } },
        write: (records) => writer.writeStep(records),
      })
      let closingIt: Promise<void> | undefined
      const tracked: Subscription = {
        get joined() {
          return subscription.joined
        },
        failed: subscription.failed,
        close() {
          closingIt ??= closeOne(tracked, subscription)
          return closingIt
        },
      }
      subscriptions.add(tracked)
      return tracked
    },

    close() {
      closing ??= close()
      return closing
    },
  }
}
