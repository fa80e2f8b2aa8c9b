// Compares the plan's topics with a cluster: creates missing topics, and lists every difference of
// an existing one. It never changes an existing topic: only its owner knows its other users.

import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { type ErrorCode, WeirError } from '../../../lib/errors.ts'
import type { PlannedTopic } from './topic-plan.ts'

/**
 * `property`: topic, access, partitions, copies, leader, or the name of a configuration entry.
 * `remedy`: an action for the user, often a command. `mayPass`: the difference may disappear
 * without an action.
 */
export type TopicDifference = {
  topic: string
  property: string
  is: string
  shouldBe: string
  remedy: string
  mayPass?: true
}

type TopicState =
  | { kind: 'missing' | 'leaderless' }
  | { kind: 'refused'; type: string }
  | { kind: 'there'; partitions: number; copies: number }

/** The codecs that compression.ts reads, and those that brokers decompress. */
const readableCompression = ['producer', 'uncompressed', 'gzip', 'zstd']

/** How long a new topic may take until each partition has a leader that responds. */
const leadersMs = 30_000
const pollMs = 50

/**
 * Creates missing topics, and waits until each partition has a leader that responds. Several
 * processes may do so at once. Resolves with the names of the topics that this call created. Throws
 * `bus.topic-missing` with each reason and remedy, also for a missing leader.
 */
export async function createTopics(admin: Admin, plan: PlannedTopic[]): Promise<string[]> {
  const states = await statesOf(admin, plan)
  const awaited = plan.filter(({ topic }) => states.get(topic)?.kind === 'leaderless') // perhaps another process has just created it
  const missing = plan.filter(({ topic }) => states.get(topic)?.kind === 'missing')
  const refusals = await createEach(admin, missing)
  const created = missing.filter(({ topic }) => !refusals.has(topic))
  const createdByOthers = missing.filter(
    ({ topic }) => refusals.get(topic) === 'TOPIC_ALREADY_EXISTS',
  )
  const mistakes = missing.flatMap((planned) => {
    const type = refusals.get(planned.topic)
    return type === undefined || type === 'TOPIC_ALREADY_EXISTS'
      ? []
      : [creationRefused(planned, type)]
  })
  const deadline = performance.now() + leadersMs
  for (const planned of [...awaited, ...created, ...createdByOthers])
    if (!(await waitUntilUsable(admin, planned, deadline))) mistakes.push(leaderless(planned.topic))
  if (mistakes.length > 0) throw topicsUnfit(mistakes)
  return created.map(({ topic }) => topic)
}

/**
 * Every difference, in the order of the plan. More than the plan (a longer retention) is not a
 * difference. `admin`: a new one, or one that has just created these topics.
 */
export async function topicDifferences(
  admin: Admin,
  plan: PlannedTopic[],
): Promise<TopicDifference[]> {
  const states = await statesOf(admin, plan)
  const there = plan
    .filter(({ topic }) => states.get(topic)?.kind === 'there')
    .map(({ topic }) => topic)
  const configs = await configsOf(admin, there)
  return plan.flatMap((planned): TopicDifference[] => {
    const { topic, numPartitions } = planned
    const state = states.get(topic) as TopicState
    switch (state.kind) {
      case 'missing':
        return [
          {
            topic,
            property: 'topic',
            is: 'missing',
            shouldBe: 'there',
            remedy: 'weir topics create',
          },
        ]
      case 'refused':
        return [notDescribed(topic, state.type)]
      case 'leaderless':
        return [leaderless(topic)]
      case 'there': {
        const config = configs.get(topic)
        const counts = [
          ...(state.partitions === numPartitions ? [] : [otherCount(planned, state.partitions)]),
          ...(state.copies >= planned.replicationFactor
            ? []
            : [fewerCopies(planned, state.copies)]),
        ]
        if (config === undefined || typeof config === 'string')
          return [...counts, notDescribed(topic, config ?? 'no answer')]
        return [...counts, ...configDifferences(planned, config)]
      }
      default:
        return state satisfies never
    }
  })
}

/**
 * `bus.topic-missing` if a topic is missing, otherwise `bus.topic-differs`. The message has each
 * difference and its remedy. Retryable if all may pass: a broker that has just started knows topics
 * before leading them, and responds before accepting new topics.
 */
export function topicsUnfit(differences: TopicDifference[]): WeirError {
  const code: ErrorCode = differences.some(({ property }) => property === 'topic')
    ? 'bus.topic-missing'
    : 'bus.topic-differs'
  const lines = differences.map(
    ({ topic, property, is, shouldBe, remedy }) =>
      `${topic}: ${property} is ${is}, but must be ${shouldBe}. Fix: ${remedy}`,
  )
  const retryable = differences.every(
    ({ property, mayPass }) => property === 'leader' || mayPass === true,
  )
  return new WeirError(code, ['Topics do not match the plan.', ...lines].join('\n  '), {
    retryable,
  })
}

/** One topic at a time: kafkajs reports only one error of a request, without its topic. */
async function statesOf(admin: Admin, plan: PlannedTopic[]): Promise<Map<string, TopicState>> {
  const states = new Map<string, TopicState>()
  for (const { topic } of plan) states.set(topic, await stateOf(admin, topic))
  return states
}

async function stateOf(admin: Admin, topic: string): Promise<TopicState> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    if (partitions.some(({ leader }) => leader < 0)) return { kind: 'leaderless' }
    return {
      kind: 'there',
      partitions: partitions.length,
      copies: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    }
  } catch (error) {
    // For a topic that kafkajs knew before, it drops the error and fails without metadata.
    const type =
      protocolError(error) ??
      (error instanceof TypeError ? await errorOfUnknown(admin, topic) : undefined)
    if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return { kind: 'missing' }
    if (type === 'LEADER_NOT_AVAILABLE') return { kind: 'leaderless' }
    if (type === 'TOPIC_AUTHORIZATION_FAILED') return { kind: 'refused', type }
    throw error
  }
}

/** A topic with a readable configuration exists, so only its leader is missing. */
async function errorOfUnknown(admin: Admin, topic: string): Promise<string> {
  const config = (await configsOf(admin, [topic])).get(topic)
  return typeof config === 'string' ? config : 'LEADER_NOT_AVAILABLE'
}

/** By topic: its configuration, or the error that the broker returned. */
async function configsOf(
  admin: Admin,
  topics: string[],
): Promise<Map<string, Map<string, string> | string>> {
  if (topics.length === 0) return new Map()
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    })
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
      ]),
    )
  } catch (error) {
    const type = protocolError(error)
    if (type === undefined) throw error
    if (topics.length === 1) return new Map(topics.map((topic) => [topic, type]))
    const each = await Promise.all(topics.map((topic) => configsOf(admin, [topic])))
    return new Map(each.flatMap((one) => [...one]))
  }
}

/** kafkajs's name for the broker's error, such as TOPIC_AUTHORIZATION_FAILED. */
function protocolError(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('type' in at && typeof at.type === 'string') return at.type
  return undefined
}

/**
 * The error of each topic that was not created. One request for each: kafkajs does not report which
 * of several exist already.
 */
async function createEach(admin: Admin, missing: PlannedTopic[]): Promise<Map<string, string>> {
  const refusals = new Map<string, string>()
  for (const planned of missing) {
    const refusal = await refusalOf(admin, planned)
    if (refusal !== undefined) refusals.set(planned.topic, refusal)
  }
  return refusals
}

async function refusalOf(admin: Admin, planned: PlannedTopic): Promise<string | undefined> {
  try {
    return (await admin.createTopics({ topics: [planned], waitForLeaders: false }))
      ? undefined
      : 'TOPIC_ALREADY_EXISTS'
  } catch (error) {
    const [first] = (error as { errors?: { type: string }[] }).errors ?? []
    if (first === undefined) throw error
    return first.type
  }
}

/**
 * Metadata alone is not enough: for up to a second a new leader may reject requests. False if the
 * topic is not usable before `deadline`.
 */
async function waitUntilUsable(
  admin: Admin,
  { topic }: PlannedTopic,
  deadline: number,
): Promise<boolean> {
  for (;;) {
    const state = await stateOf(admin, topic)
    if (state.kind === 'there' && state.partitions > 0 && (await answers(admin, topic))) return true
    if (performance.now() > deadline) return false
    await sleep(pollMs)
  }
}

/**
 * From here on kafkajs includes the topic in every request of this admin. All of them fail once the
 * topic is deleted.
 */
async function answers(admin: Admin, topic: string): Promise<boolean> {
  try {
    await admin.fetchTopicOffsets(topic)
    return true
  } catch (error) {
    if (protocolError(error) === undefined) throw error
    return false
  }
}

function creationRefused(
  { topic, replicationFactor }: PlannedTopic,
  type: string,
): TopicDifference {
  // With one copy, or the default of the brokers, this means that no broker is ready: the one that
  // responds has just started.
  const mayPass = type === 'INVALID_REPLICATION_FACTOR' && replicationFactor <= 1
  return {
    topic,
    property: 'topic',
    is: `missing, and the broker rejected its creation (${type})`,
    shouldBe: 'there',
    remedy: creationRemedy(topic, type),
    ...(mayPass && { mayPass }),
  }
}

function creationRemedy(topic: string, type: string): string {
  switch (type) {
    case 'TOPIC_AUTHORIZATION_FAILED':
    case 'CLUSTER_AUTHORIZATION_FAILED':
      return `allow Create on ${topic}, or let an administrator run the commands of weir topics plan`
    case 'INVALID_REPLICATION_FACTOR':
      return 'there are fewer brokers than copies: lower the replication factor (--replication-factor, WEIR_REPLICATION_FACTOR)'
    case 'POLICY_VIOLATION':
      return "the cluster's policy forbids this configuration: compare weir topics plan, and ask the cluster's administrator"
    default:
      return 'compare weir topics plan with the limits of this cluster'
  }
}

function leaderless(topic: string): TopicDifference {
  const remedy = `find the broker that is down: kafka-topics.sh --describe --unavailable-partitions --topic ${topic}`
  return {
    topic,
    property: 'leader',
    is: 'missing for at least one partition',
    shouldBe: 'there for each partition',
    remedy,
  }
}

function notDescribed(topic: string, type: string): TopicDifference {
  const remedy = `allow Describe and DescribeConfigs on ${topic} to Weir's user (kafka-acls.sh)`
  return {
    topic,
    property: 'access',
    is: `refused (${type})`,
    shouldBe: 'allowed, to check the configuration',
    remedy,
  }
}

function otherCount({ topic, numPartitions }: PlannedTopic, is: number): TopicDifference {
  const why =
    'all topics keep the number that the log began with, because conversations belong to partitions'
  const remedy = `${why}; ${is > numPartitions ? 'this topic has grown' : 'this topic has fewer'}, and Kafka cannot undo that. Restore it, or delete all topics and groups of Weir together (weir reset --all)`
  return { topic, property: 'partitions', is: String(is), shouldBe: String(numPartitions), remedy }
}

function fewerCopies({ topic, replicationFactor }: PlannedTopic, is: number): TopicDifference {
  const remedy =
    'add replicas with kafka-reassign-partitions.sh, or lower the replication factor (--replication-factor, WEIR_REPLICATION_FACTOR)'
  return {
    topic,
    property: 'copies',
    is: `${is} of a partition`,
    shouldBe: `${replicationFactor} or more`,
    remedy,
  }
}

function configDifferences(
  { topic, configEntries }: PlannedTopic,
  config: Map<string, string>,
): TopicDifference[] {
  return configEntries.flatMap(({ name, value }) => {
    const is = config.get(name)
    if (is === undefined || isEnough(name, value, is)) return []
    const remedy = `kafka-configs.sh --bootstrap-server HOST:9092 --alter --entity-type topics --entity-name ${topic} --add-config ${name}=${value}`
    return [
      {
        topic,
        property: name,
        is,
        shouldBe: demand(name, value),
        remedy: `${remedy}${sideEffect(name)}`,
      },
    ]
  })
}

function isEnough(name: string, planned: string, is: string): boolean {
  switch (name) {
    case 'retention.ms':
      return is === '-1' || (planned !== '-1' && Number(is) >= Number(planned))
    case 'delete.retention.ms':
    case 'max.message.bytes':
    case 'min.insync.replicas':
      return Number(is) >= Number(planned)
    case 'compression.type':
      return readableCompression.includes(is)
    default:
      return is === planned
  }
}

function demand(name: string, planned: string): string {
  switch (name) {
    case 'retention.ms':
      return planned === '-1' ? planned : `${planned} or more`
    case 'delete.retention.ms':
    case 'max.message.bytes':
    case 'min.insync.replicas':
      return `${planned} or more`
    case 'compression.type':
      return readableCompression.join(' or ')
    default:
      return planned
  }
}

function sideEffect(name: string): string {
  if (name === 'message.timestamp.type')
    return " (stop Weir first: existing records keep their writers' times)"
  if (name === 'cleanup.policy') return ' (records removed under the other policy are gone)'
  return ''
}
