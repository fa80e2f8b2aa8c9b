// What the bus knows of the Kafka cluster, and its connections for short questions: which topics
// there are, who leads which partition, where a group is coordinated. What takes long (fetches that
// wait, joins, sends) has links of its own, made by connect().
// CLUSTER-1. Nothing known is trusted for longer than it works: whoever is told that a leader has
//     moved asks for a refresh, which all share, and repeats.
// CLUSTER-2. A topic that was deleted and made again has another id, which is how those who read it
//     notice.

import type { KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { PartitionEnds, TopicKind } from '../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { pause } from '../../lib/pause.ts'
import { backoffMs } from './backoff.ts'
import { bootstrapNodes } from './bootstrap.ts'
import { type DriverBroker, type Node, protocolError } from './driver.ts'
import { asBusError, recoveryOf } from './failure.ts'
import { readCommitted } from './fetch-request.ts'
import { kafkajsLog } from './kafkajs-log.ts'
import { type Link, openLink } from './link.ts'
import { createLinkCache } from './link-cache.ts'
import { createLogThrottle } from './log-throttle.ts'
import { type ClusterPicture, requestMetadata } from './metadata-request.ts'

export type Topic = {
  name: string
  /** Undefined where brokers know no ids. */
  id: string | undefined
  /** By partition: who leads it now; undefined: nobody. */
  leaders: (Node | undefined)[]
}

export type Question<Answer> = (broker: DriverBroker) => Promise<Answer>

export type Cluster = {
  readonly clock: Clock
  /** A topic as it is known, without asking. */
  known(name: string): Topic | undefined
  /**
   * Asks for it if it is not known, for a moment also again: a new one is not known everywhere at
   * once. Throws `bus.topic-missing`.
   */
  topic(name: string): Promise<Topic>
  kind(name: string): Promise<TopicKind>
  /**
   * Of these partitions, in their order; all of the topic if none are named. The end is the one for
   * readers of what is committed.
   */
  ends(topic: string, partitions?: number[]): Promise<PartitionEnds[]>
  /** The first offset that is not older; undefined: there is none. */
  offsetSince(topic: string, partition: number, time: Milliseconds): Promise<number | undefined>
  coordinatorOf(group: string): Promise<Node>
  /**
   * Looks again at topics, leaders and brokers; calls that come while it does so share the answer.
   * Rejects with the driver's error.
   */
  refresh(): Promise<void>
  /** A link of the caller's own, to be closed by it. */
  connect(node: Node): Promise<Link>
  /**
   * Repeats `work` while its failure is one that passes, refreshing where that helps; throws a
   * WeirError that says what was to be done.
   */
  retry<Result>(action: string, work: () => Promise<Result>, forMs?: Milliseconds): Promise<Result>
  close(): void
}

export type ClusterOptions = { client: KafkaConfig; clock: Clock; log: Logger; closed: AbortSignal }

/**
 * Between two refreshes at least; and the age at which one is made without a reason, which finds
 * topics that were made again (keeps CLUSTER-2).
 */
const refreshGapMs = 50
const topicGapMs = 200
const refreshMs = 30_000
/** How long a short question is repeated. */
const retryMsDefault = 15_000
/**
 * How long a topic that nobody knows may still turn up: a new one, and one that was there before,
 * which a broker that has just started may not know.
 */
const topicWaitMs = 1_000
const lostTopicWaitMs = 60_000
const unknownTopic = 3

export function createCluster({ client, clock, log, closed }: ClusterOptions): Cluster {
  const linkOptions = { client, clock, log: kafkajsLog(log) }
  const wanted = new Set<string>()
  const topics = new Map<string, Topic>()
  /** Topics that were there once. */
  const seen = new Set<string>()
  const refusals = new Map<string, number>()
  const kinds = new Map<string, TopicKind>()
  const links = createLinkCache((node) => openLink(node, linkOptions))
  let nodes: Node[] = []
  let refreshing: Promise<void> | undefined
  let refreshedAt = Number.NEGATIVE_INFINITY
  let cancelNext: (() => void) | undefined

  async function refresh(): Promise<void> {
    const sinceMs = clock.monotonic() - refreshedAt
    if (sinceMs < refreshGapMs) await pause(clock, refreshGapMs - sinceMs, closed)
    const asked = [...wanted]
    take(await requestAny((broker) => requestMetadata(broker, asked)), asked)
    refreshedAt = clock.monotonic()
    cancelNext?.()
    cancelNext = clock.after(refreshMs, () => {
      if (!closed.aborted) refreshShared().catch(() => {}) // whoever needs the answer asks and hears the reason
    })
  }

  function refreshShared(): Promise<void> {
    refreshing ??= refresh().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  function take(picture: ClusterPicture, asked: string[]): void {
    nodes = picture.nodes
    const byId = new Map(nodes.map((node) => [node.id, node]))
    for (const name of asked) {
      const found = picture.topics.find(({ topic }) => topic === name)
      refusals.delete(name)
      if (found === undefined || found.errorCode !== 0) {
        refusals.set(name, found?.errorCode ?? unknownTopic)
        topics.delete(name)
        kinds.delete(name)
        continue
      }
      seen.add(name)
      if (topics.get(name)?.id !== found.id) kinds.delete(name)
      const leaders: Topic['leaders'] = []
      for (const { partition, leader } of found.partitions) leaders[partition] = byId.get(leader)
      topics.set(name, { name, id: found.id, leaders: Array.from(leaders) })
    }
  }

  /** Of whichever broker answers: those that are known, then those that the client was given. */
  async function requestAny<Answer>(question: Question<Answer>): Promise<Answer> {
    let failure: unknown
    for (const node of [...nodes, ...(await bootstrapNodes(client))]) {
      try {
        return await requestNode(node, question)
      } catch (error) {
        if (recoveryOf(error) === 'fail' || closed.aborted) throw error
        failure = error
      }
    }
    throw failure
  }

  async function requestNode<Answer>(
    node: Pick<Node, 'host' | 'port'>,
    question: Question<Answer>,
  ): Promise<Answer> {
    const link = await links.get(node)
    if (closed.aborted) link.close()
    return link.request(question)
  }

  async function retry<Result>(
    action: string,
    work: () => Promise<Result>,
    forMs = retryMsDefault,
  ): Promise<Result> {
    const began = clock.monotonic()
    const throttle = createLogThrottle(clock)
    for (let failures = 1; ; failures += 1) {
      try {
        return await work()
      } catch (error) {
        if (closed.aborted) throw closedBefore(action, error)
        const recovery = recoveryOf(error)
        if (recovery === 'fail' || clock.monotonic() - began > forMs)
          throw asBusError(error, action)
        if (throttle.isDue(began))
          log.warn(
            { reason: asBusError(error, action).message },
            'a question to the broker fails; it is asked again',
          )
        await pause(clock, backoffMs(failures), closed)
        if (recovery === 'refresh') await refreshShared().catch(() => {})
      }
    }
  }

  async function topic(name: string): Promise<Topic> {
    const deadline = clock.monotonic() + (seen.has(name) ? lostTopicWaitMs : topicWaitMs)
    for (;;) {
      const found = topics.get(name)
      if (found !== undefined) return found
      wanted.add(name)
      await retry(`ask for the topic ${name}`, refreshShared)
      const refusal = refusals.get(name)
      if (refusal === undefined) continue
      const error = protocolError(refusal)
      if (recoveryOf(error) !== 'fail' && clock.monotonic() < deadline) {
        await pause(clock, topicGapMs, closed)
        continue
      }
      if (!seen.has(name)) wanted.delete(name)
      throw refusal === unknownTopic
        ? new WeirError(
            'bus.topic-missing',
            `there is no topic ${name}: create it with \`weir topics create\``,
          )
        : asBusError(error, `read or write the topic ${name}`)
    }
  }

  async function offsetsOf(
    leader: Node,
    name: string,
    led: number[],
    timestamp: number,
  ): Promise<Map<number, number>> {
    const topics = [{ topic: name, partitions: led.map((partition) => ({ partition, timestamp })) }]
    const { responses } = await requestNode(leader, (broker) =>
      broker.listOffsets({ replicaId: -1, isolationLevel: readCommitted, topics }),
    )
    return new Map(
      responses
        .flatMap((each) => each.partitions)
        .map(({ partition, offset }) => [partition, Number(offset)]),
    )
  }

  return {
    clock,
    known: (name) => topics.get(name),
    topic,
    refresh: refreshShared,
    connect: (node) => openLink(node, linkOptions),
    retry,

    async kind(name) {
      await topic(name)
      const known = kinds.get(name)
      if (known !== undefined) return known
      const resources = [{ type: topicResource, name, configNames: ['cleanup.policy'] }]
      const answer = await retry(`read the configuration of the topic ${name}`, () =>
        requestAny((broker) => broker.describeConfigs({ resources })),
      )
      const policy =
        answer.resources[0]?.configEntries.find(({ configName }) => configName === 'cleanup.policy')
          ?.configValue ?? ''
      const kind: TopicKind = policy.split(',').includes('compact') ? 'table' : 'log'
      kinds.set(name, kind)
      return kind
    },

    async ends(name, partitions) {
      await topic(name)
      return retry(`ask for the ends of ${name}`, async () => {
        const { leaders } = await topic(name)
        const numbers = partitions ?? [...leaders.keys()]
        const answers = await Promise.all(
          [...Map.groupBy(numbers, (number) => leaders[number])].map(async ([leader, led]) => {
            if (leader === undefined) throw protocolError(leaderNotAvailable)
            const [begins, ends] = [
              await offsetsOf(leader, name, led, earliest),
              await offsetsOf(leader, name, led, latest),
            ]
            return led.map((partition) => ({
              partition,
              begin: begins.get(partition) ?? 0,
              end: ends.get(partition) ?? 0,
            }))
          }),
        )
        const byNumber = new Map(answers.flat().map((ends) => [ends.partition, ends]))
        return numbers.flatMap((number) => byNumber.get(number) ?? [])
      })
    },

    offsetSince(name, partition, time) {
      return retry(`ask for a time in ${name}`, async () => {
        const leader = (await topic(name)).leaders[partition]
        if (leader === undefined) throw protocolError(leaderNotAvailable)
        const offset = (
          await offsetsOf(leader, name, [partition], Math.max(0, Math.ceil(time)))
        ).get(partition)
        return offset === undefined || offset < 0 ? undefined : offset
      })
    },

    async coordinatorOf(group) {
      const { coordinator } = await requestAny((broker) =>
        broker.findGroupCoordinator({ groupId: group, coordinatorType: 0 }),
      )
      return { id: coordinator.nodeId, host: coordinator.host, port: coordinator.port }
    },

    close() {
      cancelNext?.()
      links.close()
    },
  }
}

function closedBefore(action: string, cause: unknown): WeirError {
  return new WeirError('bus.closed', `the bus was closed before it could ${action}`, { cause })
}

const topicResource = 2
const leaderNotAvailable = 5
const earliest = -2
const latest = -1
