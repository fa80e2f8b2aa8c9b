// What a cluster looks like to a client, for people: its brokers, the topics against the plan, and
// who reads. Nothing decides by it.

import kafkajs, { type Admin, type KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import './driver.ts' // mends kafkajs's queue of requests, which would look every millisecond and make Node.js warn
import { asBusError } from './failure.ts'
import { kafkajsLog } from './kafkajs-log.ts'
import { type TopicDifference, topicDifferences } from './topic-admin.ts'
import type { PlannedTopic } from './topic-plan.ts'

export type ClusterSurvey = {
  /** Addresses, as the cluster gives them. */
  brokers: string[]
  differences: TopicDifference[]
}

/** Throws `bus.unreachable`, `bus.unauthorized`, `bus.refused`. */
export async function surveyCluster(
  client: KafkaConfig,
  plan: PlannedTopic[],
  log: Logger,
): Promise<ClusterSurvey> {
  return asAdmin(client, log, 'look at the cluster', async (admin) => {
    const { brokers } = await admin.describeCluster()
    return {
      brokers: brokers.map(({ host, port }) => `${host}:${port}`),
      differences: await topicDifferences(admin, plan),
    }
  })
}

/**
 * How many members each consumer group has; none where there is no such group. Throws as
 * surveyCluster does.
 */
export async function membersOfGroups(
  client: KafkaConfig,
  groups: string[],
  log: Logger,
): Promise<Map<string, number>> {
  return asAdmin(client, log, 'look at consumer groups', async (admin) => {
    const { groups: found } = await admin.describeGroups(groups)
    return new Map(found.map(({ groupId, members }) => [groupId, members.length]))
  })
}

/**
 * Anything that an admin client of kafkajs can do. `action` completes "could not". Throws as
 * surveyCluster does.
 */
export async function asAdmin<T>(
  client: KafkaConfig,
  log: Logger,
  action: string,
  work: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = new kafkajs.Kafka({
    ...client,
    retry: { retries: 2 },
    logCreator: kafkajsLog(log),
  }).admin()
  try {
    await admin.connect()
    return await work(admin)
  } catch (error) {
    throw asBusError(error, action)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}
