// Runs the readers of groups over partitions. Owns: the groups and their lanes. Does not own: the
// steps of a lane (steps.ts) and which lane is next (turns.ts).
// A partition does one thing at a time: read, write, acknowledge. Partitions do not
// wait for each other, so a slow one holds up only itself.
// Lanes with records take turns, one batch each; a tick starts with those left over.
// The group that subscribed first goes first, so its outputs reach the next one in the same tick.
// An open subscription keeps the process alive, as a broker connection would.
// A failed subscription gives out no more records. Steps under way are still
// written, and its readers stay until close().
// Readers read ahead of the file and act on the world only after `acknowledged`. A
// write that fails for good fails every subscription with a step under way.

import type { Commit, Offset, SubscribeOptions, Subscription } from '../../../contract/bus.ts'
import { keepAlive } from '../../../lib/alive.ts'
import { WeirError } from '../../../lib/errors.ts'
import type { Log } from '../log/log.ts'
import type { PartitionName } from '../log/log-partition.ts'
import type { Writer } from '../writer.ts'
import { createLane, type Lane, type LaneOwner } from './lane.ts'
import { createSteps } from './steps.ts'

export type Subscriptions = {
  subscribe(options: SubscribeOptions): Promise<Subscription>
  /**
   * Gives batches to readers, and calls `flush` when all have answered. The owner calls it after
   * `wake`.
   */
  pump(): void
  /** Makes void all that was read ahead of the file, and fails its subscriptions. */
  failStepping(error: unknown): void
  /** `partition`: as the log names it. */
  grown(partition: PartitionName): void
  /**
   * The lowest offset of a partition that a reader of this process may still have to fold from,
   * and the groups of those readers.
   */
  neededFrom(partition: PartitionName): { offset: Offset; groups: Set<string> }
  closeAll(): Promise<void>
}

export type SubscriptionsOptions = {
  log: Log
  writer: Writer
  /** Schedules pump(). */
  wake: () => void
  /** Writes the outputs of steps. */
  flush: () => void
  assertOpen: () => void
  /** Where a group has to fold from after that commit. */
  keepFrom: (commit: Commit) => Offset
  failed: (options: { group: string; topic: string }, error: unknown) => void
}

type Group = LaneOwner & {
  lanes: Lane[]
  /** Rejects when the group fails. */
  failure: Promise<never>
  /** Lets the process end when nothing else keeps it. */
  mayEnd(): void
  close(): Promise<void>
}

export function createSubscriptions({
  log,
  writer,
  wake,
  flush,
  assertOpen,
  keepFrom,
  failed,
}: SubscriptionsOptions): Subscriptions {
  const steps = createSteps({ log, writer, wake, flush })
  const groups = new Map<string, Group>()
  /** By the partition, as the log names it. */
  const lanes = new Map<PartitionName, Set<Lane>>()
  let subscribed = 0

  async function closeGroup(group: Group): Promise<void> {
    group.isReading = false
    await Promise.all(
      group.lanes.map(({ phase }) => (phase.kind === 'stepping' ? phase.done : undefined)),
    )
    const closed = await Promise.allSettled(
      group.lanes.map(({ reader }) => reader.close('shutdown')),
    )
    writer.flushCommits()
    for (const lane of group.lanes) lanes.get(log.placeOf(lane))?.delete(lane)
    groups.delete(groupName(group))
    group.mayEnd()
    throwFirst(closed)
  }

  function addLane(lane: Lane): void {
    const others = lanes.get(log.placeOf(lane)) ?? new Set()
    lanes.set(log.placeOf(lane), others.add(lane))
    steps.queueIfReady(lane)
  }

  return {
    async subscribe({ group: name, topic, assign }) {
      log.topic(topic)
      if (groups.has(groupName({ group: name, topic }))) {
        throw new WeirError(
          'bus.locked',
          `group ${name} reads ${topic} in this process already, and on the embedded bus it has all partitions: close that subscription first, or use another group`,
        )
      }
      const assigned = Promise.withResolvers<void>()
      const group = createGroup({
        group: name,
        topic,
        rank: subscribed,
        failed,
        close: (closing) => assigned.promise.then(() => closeGroup(closing)),
      })
      groups.set(groupName(group), group)
      subscribed += 1
      try {
        await assignAll(log, group, assign)
        assertOpen()
      } catch (error) {
        assigned.resolve()
        await group.close()
        throw error
      }
      assigned.resolve()
      group.isReading = true
      for (const lane of group.lanes) addLane(lane)
      return {
        get joined() {
          return group.isReading
        },
        failed: group.failure,
        close: group.close,
      }
    },

    pump: steps.pump,

    failStepping(error) {
      steps.voidAll()
      for (const { lanes, fail } of groups.values())
        if (lanes.some(({ phase }) => phase.kind === 'stepping')) fail(error)
    },

    grown(partition) {
      for (const lane of lanes.get(partition) ?? []) steps.queueIfReady(lane)
    },

    neededFrom(partition) {
      const readers = [...(lanes.get(log.placeOf(partition)) ?? [])]
      const needed = readers.map(({ committed, from }) =>
        committed === undefined ? from : keepFrom(committed),
      )
      return {
        offset: Math.min(Number.MAX_SAFE_INTEGER, ...needed),
        groups: new Set(readers.map(({ owner }) => owner.group)),
      }
    },

    async closeAll() {
      throwFirst(await Promise.allSettled([...groups.values()].map((group) => group.close())))
    },
  }
}

/** A group without lanes that does not read yet. `close` runs at most once. */
function createGroup({
  group,
  topic,
  rank,
  failed,
  close,
}: Pick<Group, 'group' | 'topic' | 'rank'> &
  Pick<SubscriptionsOptions, 'failed'> & { close: (group: Group) => Promise<void> }): Group {
  const { promise: failure, reject } = Promise.withResolvers<never>()
  failure.catch(() => {}) // a dropped subscription must not end the process; `failed` logs the error
  let closing: Promise<void> | undefined
  let hasFailed = false
  const created: Group = {
    group,
    topic,
    rank,
    lanes: [],
    isReading: false,
    failure,
    mayEnd: keepAlive(),
    fail(error) {
      if (hasFailed) return
      hasFailed = true
      created.isReading = false
      failed({ group, topic }, error)
      reject(error)
    },
    close() {
      closing ??= close(created)
      return closing
    },
  }
  return created
}

/**
 * Requests a reader for every partition, all at once. If one request fails, the lanes of the others
 * are there for closing.
 */
async function assignAll(
  log: Log,
  owner: Group,
  assign: SubscribeOptions['assign'],
): Promise<void> {
  const { group, topic } = owner
  const requests = log.ends(topic).map(async (ends) => {
    const { partition } = ends
    const committed = log.committed({ group, topic, partition })
    owner.lanes.push(createLane(owner, partition, await assign({ topic, ends, committed })))
  })
  throwFirst(await Promise.allSettled(requests))
}

function throwFirst(results: PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

function groupName({ group, topic }: { group: string; topic: string }): string {
  return JSON.stringify([group, topic])
}
