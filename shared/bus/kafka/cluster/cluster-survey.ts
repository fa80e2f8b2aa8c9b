// A description of the cluster for people: brokers, and the topics compared with the plan. Nothing is
// decided by it.

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
