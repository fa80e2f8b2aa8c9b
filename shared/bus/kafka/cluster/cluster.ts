// The Kafka cluster as the bus sees it: topics, leaders, group coordinators, and links for short
// requests. Long ones (waiting fetches, joins, sends) have their own links, opened by connect().
// Metadata is trusted only while it works. A caller whose leader moved requests a
// refresh, which all callers share, and retries.
// A topic that was deleted and created again has another id, so its readers notice.
// A topic that grows under a running process ends its subscriptions and appends: its
// conversations belong to other partitions from now on.

import type { KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { PartitionEnds, TopicKind } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { pause } from '../../../lib/pause.ts'
import type { TopicNeed } from '../../fleet/needed-topics.ts'
import { backoffMs } from '../backoff.ts'
import { errorCodes, type Node, protocolError } from '../driver.ts'
import {
  type Action,
  asBusError,
  deletedTopicAdvice,
  recoveryOf,
  topicRecreated,
} from '../failure.ts'
import { readCommitted } from '../fetch/fetch-request.ts'
import { createLogThrottle } from '../log-throttle.ts'
import { kafkajsLog } from '../properties/kafkajs-log.ts'
import { requestMetadata } from '../protocol/metadata-request.ts'
import { type BrokerRequests, createBrokerRequests } from './broker-requests.ts'
import { createClusterTopics, type ResizedTopic, type Topic } from './cluster-topics.ts'
import { type Link, openLink } from './link.ts'

export type Cluster = {
  readonly clock: Clock
  /** The known topic, without a request. */
  known(name: string): Topic | undefined
  /**
   * Requests the topic if it is unknown, and retries for a moment: not all brokers know a new topic
   * at once. Throws `bus.topic-missing`.
   */
  topic(name: string): Promise<Topic>
  kind(name: string): Promise<TopicKind>
  /** The ends of these partitions, in their order, or of all. The end counts committed records. */
  ends(topic: string, partitions?: readonly number[]): Promise<PartitionEnds[]>
  /** The end of one partition, by one request. */
  end(topic: string, partition: number): Promise<number>
  /** The first offset at or after `time`, if there is one. */
  offsetSince(topic: string, partition: number, time: Milliseconds): Promise<number | undefined>
  coordinatorOf(group: string): Promise<Node>
  /**
   * Requests topics, leaders and brokers again. Concurrent calls share the response. Rejects with
   * the driver's error.
   */
  refresh(): Promise<void>
  /** A link that the caller owns and closes. */
  connect(node: Node): Promise<Link>
  /**
   * Repeats `work` while a retry can help, and refreshes where that helps. Throws a WeirError that
   * names `action`.
   */
  retry<Result>(
    action: string | Action,
    work: () => Promise<Result>,
    forMs?: Milliseconds,
  ): Promise<Result>
  /** Throws `bus.topic-differs` once a topic has grown. */
  assertNotResized(): void
  /** A sentence about a needed topic that is gone, or Weir's own topic that was created again. */
  lost(): string | undefined
  /** Throws `bus.topic-recreated` if the topic was deleted and created again under this process. */
  assertNotRecreated(topic: string): void
  /** Calls `onResized` with that error, at once if it happened before. Returns how to stop that. */
  whenResized(onResized: (error: WeirError) => void): () => void
  close(): void
}

export type ClusterOptions = {
  client: KafkaConfig
  clock: Clock
  log: Logger
  closed: AbortSignal
  /** As in createClusterTopics. */
  needOf?: ((topic: string) => TopicNeed) | undefined
}

/** The least time between two refreshes. */
const refreshGapMs = 50
/** Metadata of this age is refreshed, to find topics that were created again. */
const refreshMs = 30_000
/** How long a short request is retried. */
const retryMsDefault = 15_000
/**
 * How long an unknown topic is requested again: a new one, and one that existed before, because a
 * broker that has just started may not know it.
 */
const topicWaitMs = 1_000
const lostTopicWaitMs = 60_000
const topicGapMs = 200

export function createCluster({ client, clock, log, closed, needOf }: ClusterOptions): Cluster {
  const linkOptions = { client, clock, log: kafkajsLog(log) }
  const topics = createClusterTopics(needOf)
  const requests = createBrokerRequests(client, linkOptions, closed)
  const refreshes = createRefreshes({ clock, closed, refresh })
  const retry = createRetry({ clock, log, closed, refresh: refreshes.refresh })
  const resizes = createResizes(topics)

  async function refresh(): Promise<void> {
    const requested = topics.requested()
    const picture = await requests.toAny(topics.nodes(), (broker) =>
      requestMetadata(broker, requested),
    )
    topics.apply(picture, requested)
    resizes.report()
  }

  async function topic(name: string): Promise<Topic> {
    const waitMs = topics.wasSeen(name) ? lostTopicWaitMs : topicWaitMs
    const deadline = clock.monotonic() + waitMs
    for (;;) {
      const found = topics.known(name)
      if (found !== undefined) return found
      topics.want(name)
      await retry(`request the topic ${name}`, refreshes.refresh)
      const code = topics.errorCodeOf(name)
      if (code === undefined) continue
      const error = protocolError(code)
      if (recoveryOf(error) !== 'fail' && clock.monotonic() < deadline) {
        await pause(clock, topicGapMs, closed)
        continue
      }
      topics.forget(name)
      throw code === errorCodes.unknownTopicOrPartition
        ? topicMissing(name)
        : asBusError(error, {
            text: `read or write the topic ${name}`,
            right: `Describe on topic ${name}`,
          })
    }
  }

  async function leaderOf(name: string, partition: number): Promise<Node> {
    const leader = (await topic(name)).leaders[partition]
    if (leader === undefined) throw protocolError(errorCodes.leaderNotAvailable)
    return leader
  }

  return {
    clock,
    known: topics.known,
    topic,
    refresh: refreshes.refresh,
    connect: (node) => openLink(node, linkOptions),
    retry,

    async kind(name) {
      await topic(name)
      const known = topics.kindOf(name)
      if (known !== undefined) return known
      const kind = await retry(
        {
          text: `read the configuration of the topic ${name}`,
          right: `DescribeConfigs on topic ${name}`,
        },
        () => requestKind(requests, topics.nodes(), name),
      )
      topics.setKind(name, kind)
      return kind
    },

    async ends(name, partitions) {
      await topic(name)
      return retry(`read the ends of ${name}`, async () =>
        requestEnds(requests, await topic(name), partitions),
      )
    },

    end(name, partition) {
      return retry(`find the end of ${name}`, async () => {
        const leader = await leaderOf(name, partition)
        const found = await requestOffsets(requests, leader, name, [partition], latest)
        return found.get(partition) ?? 0
      })
    },

    offsetSince(name, partition, time) {
      return retry(`find a time in ${name}`, async () => {
        const leader = await leaderOf(name, partition)
        const at = Math.max(0, Math.ceil(time))
        const offset = (await requestOffsets(requests, leader, name, [partition], at)).get(
          partition,
        )
        return offset === undefined || offset < 0 ? undefined : offset
      })
    },

    async coordinatorOf(group) {
      const { coordinator } = await requests.toAny(topics.nodes(), (broker) =>
        broker.findGroupCoordinator({ groupId: group, coordinatorType: 0 }),
      )
      return { id: coordinator.nodeId, host: coordinator.host, port: coordinator.port }
    },

    lost() {
      const { missing, recreated } = topics
      if (missing !== undefined)
        return `there is no topic ${missing} any more. ${deletedTopicAdvice}`
      return recreated === undefined ? undefined : topicRecreated(recreated).message
    },
    assertNotRecreated(name) {
      if (topics.wasRecreated(name)) throw topicRecreated(name)
    },
    assertNotResized: resizes.assertNone,
    whenResized: resizes.listen,

    close() {
      refreshes.close()
      resizes.close()
      requests.close()
    },
  }
}

function createResizes(topics: { readonly resized: ResizedTopic | undefined }) {
  const listeners = new Set<(error: WeirError) => void>()

  function report(): void {
    if (topics.resized === undefined) return
    for (const onResized of listeners) onResized(topicResized(topics.resized))
    listeners.clear()
  }

  return {
    report,
    assertNone(): void {
      if (topics.resized !== undefined) throw topicResized(topics.resized)
    },
    listen(onResized: (error: WeirError) => void): () => void {
      listeners.add(onResized)
      report()
      return () => listeners.delete(onResized)
    },
    close: () => listeners.clear(),
  }
}

/** Concurrent callers share a refresh. Old metadata is refreshed without a caller. */
function createRefreshes({
  clock,
  closed,
  refresh,
}: Pick<ClusterOptions, 'clock' | 'closed'> & { refresh(): Promise<void> }) {
  let refreshing: Promise<void> | undefined
  let refreshedAt = Number.NEGATIVE_INFINITY
  let cancelNext: (() => void) | undefined

  async function refreshOnce(): Promise<void> {
    const sinceMs = clock.monotonic() - refreshedAt
    if (sinceMs < refreshGapMs) await pause(clock, refreshGapMs - sinceMs, closed)
    await refresh()
    refreshedAt = clock.monotonic()
    cancelNext?.()
    cancelNext = clock.after(refreshMs, () => {
      if (!closed.aborted) refreshShared().catch(() => {}) // a caller that needs the response gets the error
    })
  }

  function refreshShared(): Promise<void> {
    refreshing ??= refreshOnce().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  return { refresh: refreshShared, close: () => cancelNext?.() }
}

function createRetry({
  clock,
  log,
  closed,
  refresh,
}: Omit<ClusterOptions, 'client'> & { refresh(): Promise<void> }): Cluster['retry'] {
  return async (action, work, forMs = retryMsDefault) => {
    const began = clock.monotonic()
    const throttle = createLogThrottle(clock)
    for (let failures = 1; ; failures += 1) {
      try {
        return await work()
      } catch (error) {
        if (closed.aborted) throw closedBefore(asText(action), error)
        const recovery = recoveryOf(error)
        if (recovery === 'fail' || clock.monotonic() - began > forMs)
          throw asBusError(error, action)
        if (throttle.isDue(began))
          log.warn({ reason: asBusError(error, action).message }, 'a request fails; retrying')
        await pause(clock, backoffMs(failures), closed)
        if (recovery === 'refresh') await refresh().catch(() => {})
      }
    }
  }
}

async function requestKind(
  requests: BrokerRequests,
  nodes: Node[],
  name: string,
): Promise<TopicKind> {
  const resources = [{ type: topicResource, name, configNames: ['cleanup.policy'] }]
  const response = await requests.toAny(nodes, (broker) => broker.describeConfigs({ resources }))
  const entries = response.resources[0]?.configEntries ?? []
  const policy = entries.find(({ configName }) => configName === 'cleanup.policy')?.configValue
  return (policy ?? '').split(',').includes('compact') ? 'table' : 'log'
}

async function requestEnds(
  requests: BrokerRequests,
  { name, leaders }: Topic,
  partitions: readonly number[] = [...leaders.keys()],
): Promise<PartitionEnds[]> {
  const found = await Promise.all(
    [...Map.groupBy(partitions, (number) => leaders[number])].map(async ([leader, led]) => {
      if (leader === undefined) throw protocolError(errorCodes.leaderNotAvailable)
      const begins = await requestOffsets(requests, leader, name, led, earliest)
      const ends = await requestOffsets(requests, leader, name, led, latest)
      return led.map((partition) => ({
        partition,
        begin: begins.get(partition) ?? 0,
        end: ends.get(partition) ?? 0,
      }))
    }),
  )
  const byNumber = new Map(found.flat().map((ends) => [ends.partition, ends]))
  return partitions.flatMap((number) => byNumber.get(number) ?? [])
}

/** `timestamp`: a time, `earliest` or `latest`. */
async function requestOffsets(
  requests: BrokerRequests,
  leader: Node,
  name: string,
  led: number[],
  timestamp: number,
): Promise<Map<number, number>> {
  const topics = [{ topic: name, partitions: led.map((partition) => ({ partition, timestamp })) }]
  const { responses } = await requests.toNode(leader, (broker) =>
    broker.listOffsets({ replicaId: -1, isolationLevel: readCommitted, topics }),
  )
  return new Map(
    responses
      .flatMap((each) => each.partitions)
      .map(({ partition, offset }) => [partition, Number(offset)]),
  )
}

function topicMissing(name: string): WeirError {
  return new WeirError(
    'bus.topic-missing',
    `there is no topic ${name}: create the topics of a new log with \`weir topics create\`. ${deletedTopicAdvice}`,
  )
}

function topicResized({ name, was, is }: ResizedTopic): WeirError {
  return new WeirError(
    'bus.topic-differs',
    `${name} had ${was} partitions when this process started, and has ${is} now: conversations belong to other partitions now, so nothing is read or written. Stop every process of Weir; weir topics check shows each topic`,
  )
}

function asText(action: string | Action): string {
  return typeof action === 'string' ? action : action.text
}

function closedBefore(action: string, cause: unknown): WeirError {
  return new WeirError('bus.closed', `the bus was closed before it could ${action}`, { cause })
}

/** The metadata of a topic. Throws `bus.topic-differs` if it has no such partition. */
export async function topicOf(
  cluster: Pick<Cluster, 'topic'>,
  { topic: name, partition }: { topic: string; partition: number },
): Promise<Topic> {
  const topic = await cluster.topic(name)
  const partitions = topic.leaders.length
  if (partition >= 0 && partition < partitions) return topic
  throw new WeirError(
    'bus.topic-differs',
    `topic ${name} has no partition ${partition}: it has partitions 0 to ${partitions - 1}`,
  )
}

const topicResource = 2
const earliest = -2
const latest = -1
