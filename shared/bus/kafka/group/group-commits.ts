// The commits of a group, as requests to its coordinator.

import type { Commit } from '../../../contract/bus.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Coordinator } from '../cluster/coordinator.ts'

type Place = { group: string; topic: string }

/** The commits of these partitions; a partition without one is missing. */
export async function fetchCommits(
  { cluster, group, topic }: Place & { cluster: Pick<Cluster, 'retry'> },
  coordinator: Coordinator,
  partitions: number[],
): Promise<Map<number, Commit>> {
  const topics = [{ topic, partitions: partitions.map((partition) => ({ partition })) }]
  const { responses } = await cluster.retry(
    { text: `read the commits of the group ${group}`, right: `Read on group ${group}` },
    () => coordinator.request((broker) => broker.offsetFetch({ groupId: group, topics })),
  )
  const found = responses
    .flatMap((response) => response.partitions)
    .filter(({ offset }) => Number(offset) >= 0)
  return new Map(
    found.map(({ partition, offset, metadata }) => [
      partition,
      { offset: Number(offset), metadata: metadata ?? '' },
    ]),
  )
}

/** All commits in one request. */
export function commitRequest(
  { group, topic }: Place,
  { member, generation }: { member: string; generation: number },
  commits: Map<number, Commit>,
) {
  const partitions = [...commits].map(([partition, { offset, metadata }]) => ({
    partition,
    offset: String(offset),
    metadata,
  }))
  return {
    groupId: group,
    groupGenerationId: generation,
    memberId: member,
    topics: [{ topic, partitions }],
  }
}
