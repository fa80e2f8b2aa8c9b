// What the plan's topics are on a cluster: creates those that are missing, and names every way in
// which one that exists is not what Weir needs. Never changes a topic that exists: only who runs
// the cluster knows what else depends on it.

import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { type ErrorCode, WeirError } from '../../lib/errors.ts'
import type { PlannedTopic } from './topic-plan.ts'

/**
 * `what`: topic, access, partitions, copies, leader, or the name of a configuration entry.
 * `remedy`: what a person can do, often a line to run. `mayPass`: it may be so no more in a moment,
 * without anybody's action.
 */
export type TopicDifference = {
  topic: string
  what: string
  is: string
  shouldBe: string
  remedy: string
  mayPass?: true
}

type TopicState =
  | { kind: 'missing' | 'leaderless' }
  | { kind: 'refused'; type: string }
  | { kind: 'there'; partitions: number; copies: number }

/** compression.ts reads no other. */
const readableCompression = ['producer', 'uncompressed', 'gzip', 'zstd']

/** How long a new topic may take until each partition has a leader that knows it. */
const leadersMs = 30_000
const lookAgainMs = 50

/**
 * Creates what is missing and waits until it can be written and read: each partition has a leader,
 * and that answers. Several processes may do so at once. Resolves with the names that this call
 * created. Throws `bus.topic-missing` with each reason and what to do, also where no leader is
 * found.
 */
export async function createTopics(admin: Admin, plan: PlannedTopic[]): Promise<string[]> {
  const states = await statesOf(admin, plan)
  const awaited = plan.filter(({ topic }) => states.get(topic)?.kind === 'leaderless') // perhaps because another process has just created it
  const missing = plan.filter(({ topic }) => states.get(topic)?.kind === 'missing')
  const refusals = await tryToCreate(admin, missing)
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
    if (!(await untilUsable(admin, planned, deadline))) mistakes.push(leaderless(planned.topic))
  if (mistakes.length > 0) throw topicsUnfit(mistakes)
  return created.map(({ topic }) => topic)
}

/**
 * Every difference, in the order of the plan; empty: all is as Weir needs it. More than that (a
 * longer retention) is no difference. `admin`: a new one, or one that has just created these
 * topics.
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
          { topic, what: 'topic', is: 'missing', shouldBe: 'there', remedy: 'weir topics create' },
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
 * `bus.topic-missing` if one is, else `bus.topic-differs`; the message has each difference and its
 * remedy. Retryable where all may pass: a broker that has just started knows its topics before it
 * leads them, and answers before it takes new ones.
 */
export function topicsUnfit(differences: TopicDifference[]): WeirError {
  const code: ErrorCode = differences.some(({ what }) => what === 'topic')
    ? 'bus.topic-missing'
    : 'bus.topic-differs'
  const lines = differences.map(
    ({ topic, what, is, shouldBe, remedy }) =>
      `${topic}: ${what} is ${is}, and must be ${shouldBe}. To do: ${remedy}`,
  )
  const retryable = differences.every(({ what, mayPass }) => what === 'leader' || mayPass === true)
  return new WeirError(code, ['Topics are not as Weir needs them.', ...lines].join('\n  '), {
    retryable,
  })
}

/**
 * One after the other: kafkajs tells only one error of a request, and not for which of its topics.
 */
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
    // Of a topic that it knows from before, kafkajs drops the error and fails on having no
    // metadata.
    const type =
      protocolError(error) ??
      (error instanceof TypeError ? await whyUnknown(admin, topic) : undefined)
    if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return { kind: 'missing' }
    if (type === 'LEADER_NOT_AVAILABLE') return { kind: 'leaderless' }
    if (type === 'TOPIC_AUTHORIZATION_FAILED') return { kind: 'refused', type }
    throw error
  }
}

/**
 * A topic whose configuration can be read is there, so that it must be a leader that is missing.
 */
async function whyUnknown(admin: Admin, topic: string): Promise<string> {
  const config = (await configsOf(admin, [topic])).get(topic)
  return typeof config === 'string' ? config : 'LEADER_NOT_AVAILABLE'
}

/** By topic: its configuration, or the error that refuses it. */
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

/** kafkajs's name for the error that a broker gave: "TOPIC_AUTHORIZATION_FAILED". */
function protocolError(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('type' in at && typeof at.type === 'string') return at.type
  return undefined
}

/**
 * The error of each topic that was not created. One request for each: of several, kafkajs does not
 * tell which exist already.
 */
async function tryToCreate(admin: Admin, missing: PlannedTopic[]): Promise<Map<string, string>> {
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
 * Metadata alone would do too early: for up to a second a partition's leader does not know yet that
 * it is one. False: not before `deadline`.
 */
async function untilUsable(
  admin: Admin,
  { topic }: PlannedTopic,
  deadline: number,
): Promise<boolean> {
  for (;;) {
    const state = await stateOf(admin, topic)
    if (state.kind === 'there' && state.partitions > 0 && (await answers(admin, topic))) return true
    if (performance.now() > deadline) return false
    await sleep(lookAgainMs)
  }
}

/**
 * From here on this client expects the topic to be there: kafkajs asks about it with every request
 * of an admin, which all fail once it is deleted.
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
  // For a single copy, or as many as the brokers say, there is no broker at the moment: the one
  // that answers has just started.
  const mayPass = type === 'INVALID_REPLICATION_FACTOR' && replicationFactor <= 1
  return {
    topic,
    what: 'topic',
    is: `missing, and creating it was refused (${type})`,
    shouldBe: 'there',
    remedy: creationRemedy(topic, type),
    ...(mayPass && { mayPass }),
  }
}

function creationRemedy(topic: string, type: string): string {
  switch (type) {
    case 'TOPIC_AUTHORIZATION_FAILED':
    case 'CLUSTER_AUTHORIZATION_FAILED':
      return `let somebody who may create topics run the lines of weir topics plan, or allow Create on ${topic}`
    case 'INVALID_REPLICATION_FACTOR':
      return 'there are fewer brokers than copies: set the replication factor lower (--replication-factor, WEIR_REPLICATION_FACTOR)'
    case 'POLICY_VIOLATION':
      return "the cluster's policy forbids this configuration: ask who runs it, and compare weir topics plan"
    default:
      return 'compare weir topics plan with what this cluster allows'
  }
}

function leaderless(topic: string): TopicDifference {
  const remedy = `see which broker is down: kafka-topics.sh --describe --unavailable-partitions --topic ${topic}`
  return {
    topic,
    what: 'leader',
    is: 'missing for a partition at least',
    shouldBe: 'there for each',
    remedy,
  }
}

function notDescribed(topic: string, type: string): TopicDifference {
  const remedy = `allow Describe and DescribeConfigs on ${topic} to the user that Weir logs in as (kafka-acls.sh)`
  return {
    topic,
    what: 'access',
    is: `refused (${type})`,
    shouldBe: 'allowed, so that the configuration can be checked',
    remedy,
  }
}

function otherCount({ topic, numPartitions }: PlannedTopic, is: number): TopicDifference {
  const remedy = `set partitions to ${is} (--partitions, WEIR_PARTITIONS) if all topics have so many; else delete all topics and groups of Weir together`
  return { topic, what: 'partitions', is: String(is), shouldBe: String(numPartitions), remedy }
}

function fewerCopies({ topic, replicationFactor }: PlannedTopic, is: number): TopicDifference {
  const remedy =
    'give it more brokers by kafka-reassign-partitions.sh, or set the replication factor lower (--replication-factor, WEIR_REPLICATION_FACTOR)'
  return {
    topic,
    what: 'copies',
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
        what: name,
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
      return is === '-1' || Number(is) >= Number(planned)
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
    return " (while Weir is stopped: records from before keep their writers' times)"
  if (name === 'cleanup.policy') return ' (what was removed under the other policy is gone)'
  return ''
}
