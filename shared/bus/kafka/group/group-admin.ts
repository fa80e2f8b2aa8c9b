// Consumer groups for an operator's repair: the commits of a group without members, and the
// deletion of topics and groups. A running group is never changed.

import type { KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { Commit } from '../../../contract/bus.ts'
import { systemClock } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import type { GroupPlace, GroupProgress } from '../../group-progress.ts'
import { createCluster } from '../cluster/cluster.ts'
import { asAdmin } from '../cluster/cluster-survey.ts'
import { type Coordinator, createCoordinator } from '../cluster/coordinator.ts'
import { asBusError, protocolTypeOf } from '../failure.ts'
import { commitRequest, fetchCommits } from './group-commits.ts'

/** The commits of all partitions. Throws `bus.unreachable`, `bus.unauthorized`, `bus.refused`. */
export function readCommits(
  client: KafkaConfig,
  place: GroupPlace,
  partitions: number[],
  log: Logger,
): Promise<Map<number, Commit>> {
  return withCoordinator(client, place.group, log, (coordinator, cluster) =>
    fetchCommits({ cluster, ...place }, coordinator, partitions),
  )
}

/** As in Capabilities. One connection serves all groups. Throws as readCommits. */
export function progressOfGroups(
  client: KafkaConfig,
  places: readonly GroupPlace[],
  log: Logger,
): Promise<GroupProgress[]> {
  return asAdmin(client, log, 'look at consumer groups', async (admin) => {
    const { groups } = await admin.describeGroups(places.map(({ group }) => group))
    const running = new Set(
      groups.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId),
    )
    return Promise.all(
      places.map(async ({ group, topic }) => {
        const found = await admin.fetchOffsets({ groupId: group, topics: [topic] })
        const commits = found.flatMap(({ partitions }) =>
          partitions.map(({ partition, offset }) => [partition, Number(offset)] as const),
        )
        return {
          group,
          topic,
          isRunning: running.has(group),
          commits: new Map(commits.filter(([, offset]) => offset >= 0)),
        }
      }),
    )
  })
}

/** Replaces commits. Throws `bus.refused` if the group has members, and as readCommits. */
export async function writeCommits(
  client: KafkaConfig,
  place: GroupPlace,
  commits: Map<number, Commit>,
  log: Logger,
): Promise<void> {
  const { group, topic } = place
  await withCoordinator(client, group, log, async (coordinator) => {
    try {
      await coordinator.request((broker) =>
        broker.offsetCommit(commitRequest({ group, topic }, outsider, commits)),
      )
    } catch (error) {
      if (hasMembers.has(protocolTypeOf(error) ?? '')) throw inUse([group])
      throw asBusError(error, `commit for the group ${group}`)
    }
  })
}

/**
 * Deletes these groups, then all these topics. A group without topics would find its commits
 * outside the new log; topics without groups are only read again. Names that do not exist count as
 * deleted. Throws `bus.refused` if a group has members, before it deletes anything.
 */
export async function deleteGroupsAndTopics(
  client: KafkaConfig,
  { groups, topics }: { groups: string[]; topics: string[] },
  log: Logger,
): Promise<void> {
  await asAdmin(client, log, 'delete topics and groups', async (admin) => {
    if (groups.length > 0) {
      const { groups: found } = await admin.describeGroups(groups)
      const used = found.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId)
      if (used.length > 0) throw inUse(used)
      await admin.deleteGroups(groups)
    }
    if (topics.length > 0) await admin.deleteTopics({ topics })
  })
}

/** The names of all groups and topics that begin with a prefix. */
export async function namesWithPrefix(
  client: KafkaConfig,
  prefix: string,
  log: Logger,
): Promise<{ groups: string[]; topics: string[] }> {
  return asAdmin(client, log, 'list topics and groups', async (admin) => {
    const { groups } = await admin.listGroups()
    const topics = await admin.listTopics()
    const isOurs = (name: string) => name.startsWith(prefix)
    return {
      groups: groups.map(({ groupId }) => groupId).filter(isOurs),
      topics: topics.filter(isOurs),
    }
  })
}

/** As a consumer without a group: the broker accepts it only while the group has no members. */
const outsider = { member: '', generation: -1 }

const hasMembers = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'])

function inUse(groups: string[]): WeirError {
  return new WeirError(
    'bus.refused',
    `${groups.join(', ')} ${groups.length === 1 ? 'has' : 'have'} running members: stop these processes first, and wait until the session of a killed one is over`,
  )
}

async function withCoordinator<T>(
  client: KafkaConfig,
  group: string,
  log: Logger,
  work: (coordinator: Coordinator, cluster: ReturnType<typeof createCluster>) => Promise<T>,
): Promise<T> {
  const closed = new AbortController()
  const cluster = createCluster({ client, clock: systemClock, log, closed: closed.signal })
  const coordinator = createCoordinator(cluster, group, closed.signal)
  try {
    await cluster.retry('find the cluster', () => cluster.refresh(), connectMs)
    return await work(coordinator, cluster)
  } finally {
    coordinator.close()
    closed.abort()
    cluster.close()
  }
}

/** Short, because a person waits. */
const connectMs = 10_000
