// Consumer groups for an operator's repair: the commits of a group without members, and the
// deletion of topics and groups. A running group is never changed.

import type { Admin, GroupDescription, KafkaConfig } from 'kafkajs'
import type { Logger } from 'pino'
import type { Commit } from '../../../contract/bus.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { pause } from '../../../lib/pause.ts'
import type { FleetMember } from '../../fleet/fleet-members.ts'
import type { GroupPlace, GroupProgress } from '../../group-progress.ts'
import { type Cluster, createCluster } from '../cluster/cluster.ts'
import { asAdmin } from '../cluster/cluster-survey.ts'
import { type Coordinator, createCoordinator } from '../cluster/coordinator.ts'
import type { Node } from '../driver.ts'
import { asBusError, protocolTypeOf } from '../failure.ts'
import { isSettled, membersIn } from './announcement.ts'
import { commitRequest, fetchCommits } from './group-commits.ts'

/** Everything throws `bus.unreachable`, `bus.unauthorized` and `bus.refused`. */
export type GroupAdmin = {
  /** The number of members of each group, 0 if it does not exist. */
  members(groups: string[]): Promise<ReadonlyMap<string, number>>
  /**
   * All members of these groups, with the announcement of each (announcement.ts). Waits for groups in a
   * rebalance, and throws `bus.refused`, which is retryable, if one has no end.
   */
  announced(groups: string[]): Promise<FleetMember[]>
  /** As in Capabilities. One connection serves all groups. */
  progress(places: readonly GroupPlace[]): Promise<GroupProgress[]>
  commits(place: GroupPlace, partitions: number[]): Promise<Map<number, Commit>>
  /** Replaces commits. Throws `bus.refused` if the group has members. */
  setCommits(place: GroupPlace, commits: Map<number, Commit>): Promise<void>
  /** The names of all groups and topics that begin with a prefix. */
  names(prefix: string): Promise<{ groups: string[]; topics: string[] }>
  /**
   * Deletes these groups, then all these topics. A group without topics would find its commits
   * outside the new log; topics without groups are only read again. Names that do not exist count as
   * deleted. Throws `bus.refused` if a group has members, before it deletes anything.
   */
  deleteAll(names: { groups: string[]; topics: string[] }): Promise<void>
}

export function groupAdmin(client: KafkaConfig, log: Logger): GroupAdmin {
  const lookAtGroups = <T>(work: (admin: Admin) => Promise<T>) =>
    asAdmin(client, log, 'look at consumer groups', work)

  return {
    members: (groups) => lookAtGroups((admin) => membersOf(admin, groups)),

    announced: (groups) =>
      withCluster(client, log, (cluster) =>
        announcedMembers((waiting) => describeGroups(cluster, waiting), groups, systemClock),
      ),

    progress: (places) =>
      lookAtGroups(async (admin) => {
        const ofGroups = places.map(({ group }) => group)
        const members = await membersOf(admin, ofGroups)
        return Promise.all(
          places.map(async ({ group, topic }) => {
            const found = await admin.fetchOffsets({ groupId: group, topics: [topic] })
            const commits = found.flatMap(({ partitions }) =>
              partitions.map(({ partition, offset }) => [partition, Number(offset)] as const),
            )
            const isRunning = (members.get(group) ?? 0) > 0
            return { group, topic, isRunning, commits: new Map(commits.filter(isCommit)) }
          }),
        )
      }),

    commits: (place, partitions) =>
      withCoordinator(client, place.group, log, (coordinator, cluster) =>
        fetchCommits({ cluster, ...place }, coordinator, partitions),
      ),

    setCommits: ({ group, topic }, commits) =>
      withCoordinator(client, group, log, async (coordinator) => {
        try {
          await coordinator.request((broker) =>
            broker.offsetCommit(commitRequest({ group, topic }, outsider, commits)),
          )
        } catch (error) {
          if (hasMembers.has(protocolTypeOf(error) ?? '')) throw inUse([group])
          throw asBusError(error, `commit for the group ${group}`)
        }
      }),

    names: (prefix) =>
      asAdmin(client, log, 'list topics and groups', async (admin) => {
        const { groups } = await admin.listGroups()
        const topics = await admin.listTopics()
        const isOurs = (name: string) => name.startsWith(prefix)
        return {
          groups: groups.map(({ groupId }) => groupId).filter(isOurs),
          topics: topics.filter(isOurs),
        }
      }),

    deleteAll: ({ groups, topics }) =>
      asAdmin(client, log, 'delete topics and groups', async (admin) => {
        if (groups.length > 0) {
          const members = await membersOf(admin, groups)
          const used = [...members].filter(([, count]) => count > 0).map(([group]) => group)
          if (used.length > 0) throw inUse(used)
          await admin.deleteGroups(groups)
        }
        if (topics.length > 0) await admin.deleteTopics({ topics })
      }),
  }
}

/**
 * Not by the admin client of kafkajs, which reports a missing right as a coordinator that nobody found. A process
 * that starts would try again for a minute.
 */
async function describeGroups(cluster: Cluster, groups: string[]): Promise<GroupDescription[]> {
  const action = { text: 'describe consumer groups', right: 'Describe on all groups of Weir' }
  return cluster.retry(
    action,
    async () => {
      const placed = await Promise.all(
        groups.map(async (group) => ({ group, node: await cluster.coordinatorOf(group) })),
      )
      const byNode = Map.groupBy(placed, ({ node: { host, port } }) => `${host}:${port}`)
      const described: GroupDescription[] = []
      for (const ofNode of byNode.values()) described.push(...(await describeAt(cluster, ofNode)))
      return described
    },
    connectMs,
  )
}

async function describeAt(
  cluster: Cluster,
  ofNode: { group: string; node: Node }[],
): Promise<GroupDescription[]> {
  const [first] = ofNode
  if (first === undefined) return []
  const link = await cluster.connect(first.node)
  try {
    const groupIds = ofNode.map(({ group }) => group)
    return (await link.request((broker) => broker.describeGroups({ groupIds }))).groups
  } finally {
    link.close()
  }
}

/** As `announced` of GroupAdmin. */
export async function announcedMembers(
  describe: (groups: string[]) => Promise<GroupDescription[]>,
  groups: string[],
  clock: Clock,
): Promise<FleetMember[]> {
  const members: FleetMember[] = []
  const endsAt = clock.monotonic() + rebalanceWaitMs
  for (let waiting = groups; waiting.length > 0; ) {
    const described = await describe(waiting)
    const unsettled = described.filter((group) => !isSettled(group))
    members.push(...described.filter(isSettled).flatMap(membersIn))
    waiting = unsettled.map(({ groupId }) => groupId)
    if (waiting.length === 0) return members
    if (clock.monotonic() >= endsAt) throw inRebalance(waiting)
    await pause(clock, rebalanceLookMs)
  }
  return members
}

/** Twice the time that a group waits for a member which does not join again. */
const rebalanceWaitMs = 30_000
const rebalanceLookMs = 500

function inRebalance(groups: string[]): WeirError {
  return new WeirError(
    'bus.refused',
    `the versions of the fleet are unknown while ${groups.join(', ')} ${groups.length === 1 ? 'has' : 'have'} a rebalance: try again when the processes have started or stopped`,
    { retryable: true },
  )
}

async function membersOf(admin: Admin, groups: string[]): Promise<Map<string, number>> {
  const { groups: found } = await admin.describeGroups(groups)
  return new Map(found.map(({ groupId, members }) => [groupId, members.length]))
}

function isCommit([, offset]: readonly [partition: number, offset: number]): boolean {
  return offset >= 0
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
  work: (coordinator: Coordinator, cluster: Cluster) => Promise<T>,
): Promise<T> {
  return withCluster(client, log, async (cluster, closed) => {
    const coordinator = createCoordinator(cluster, group, closed)
    try {
      return await work(coordinator, cluster)
    } finally {
      coordinator.close()
    }
  })
}

async function withCluster<T>(
  client: KafkaConfig,
  log: Logger,
  work: (cluster: Cluster, closed: AbortSignal) => Promise<T>,
): Promise<T> {
  const closed = new AbortController()
  const cluster = createCluster({ client, clock: systemClock, log, closed: closed.signal })
  try {
    await cluster.retry('find the cluster', () => cluster.refresh(), connectMs)
    return await work(cluster, closed.signal)
  } finally {
    closed.abort()
    cluster.close()
  }
}

/** Short, because a person waits. */
const connectMs = 10_000
