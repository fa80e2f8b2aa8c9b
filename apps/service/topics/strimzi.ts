// Prints the resources of Strimzi 1.0: KafkaTopics of the plan, and KafkaUsers with the least rights.
// `kafka.strimzi.io/v1` needs Strimzi 0.49 or newer.

import { stringify } from 'yaml'
import type { PlannedTopic } from '../../../shared/bus/kafka/cluster/topic-plan.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { printable } from '../../terminal/text/printable.ts'
import type { UserAccess } from './print-acls.ts'

const apiVersion = 'kafka.strimzi.io/v1'
const resourceName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Throws `usage` for a topic that no Kubernetes resource can be named after. */
export function strimziTopics(topics: PlannedTopic[], cluster: string): string {
  return documents(topics.map((topic) => strimziTopic(topic, cluster)))
}

function strimziTopic(
  { topic, numPartitions, replicationFactor, configEntries }: PlannedTopic,
  cluster: string,
) {
  return {
    apiVersion,
    kind: 'KafkaTopic',
    metadata: { name: named('KafkaTopic', topic, '--topic-prefix'), labels: labelsOf(cluster) },
    spec: {
      topicName: topic,
      partitions: numPartitions,
      // Without the field, the brokers' default holds.
      ...(replicationFactor !== -1 && { replicas: replicationFactor }),
      config: Object.fromEntries(configEntries.map(({ name, value }) => [name, value])),
    },
  }
}

/**
 * They log in by SCRAM-SHA-512. Throws `usage` for a user that no Kubernetes resource can be named
 * after.
 */
export function strimziUsers(users: UserAccess[], cluster: string): string {
  return documents(users.map((user) => strimziUser(user, cluster)))
}

function strimziUser({ user, rights }: UserAccess, cluster: string) {
  return {
    apiVersion,
    kind: 'KafkaUser',
    metadata: { name: named('KafkaUser', user, '--user'), labels: labelsOf(cluster) },
    spec: {
      authentication: { type: 'scram-sha-512' },
      authorization: {
        type: 'simple',
        acls: rights.map(({ resource, name, pattern, operations }) => ({
          resource: {
            type: resource,
            name,
            patternType: pattern === 'prefixed' ? 'prefix' : 'literal',
          },
          operations,
        })),
      },
    },
  }
}

function named(kind: string, name: string, flag: string): string {
  if (resourceName.test(name)) return name
  throw usageError(
    `no ${kind} can have the name '${printable(name)}': use a-z, 0-9, - and . only (${flag})`,
  )
}

function labelsOf(cluster: string) {
  return { 'strimzi.io/cluster': cluster }
}

function documents(resources: object[]): string {
  return resources.map((resource) => `---\n${stringify(resource)}`).join('')
}
