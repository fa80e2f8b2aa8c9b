// A description of the cluster for people: brokers, the topics compared with the plan, group
// members. Nothing is decided by it.

import kafkajs, { type Admin, type KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import '../driver.ts' // patches kafkajs's request queue, which would poll every millisecond and make Node.js warn
import { asBusError } from '../failure.ts'
import { kafkajsLog } from '../properties/kafkajs-log.ts'
import { type TopicDifference, topicDifferences } from './topic-admin.ts'
import type { PlannedTopic } from './topic-plan.ts'

export type ClusterSurvey = {
  /** Addresses, as the cluster reports them. */
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

/** The number of members of each group, 0 if it does not exist. Throws as surveyCluster does. */
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
 * Runs `work` with an admin client of kafkajs. `action` completes "could not". Throws as
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
